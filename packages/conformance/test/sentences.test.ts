import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cases } from "../src/index.ts";
import { sentences } from "../src/support/sentences.ts";
import { onOneLine } from "./contract-text.ts";

const contract = onOneLine(
  readFileSync(new URL("../../core/src/store-contract.ts", import.meta.url), "utf8"),
);

test.each(Object.values(sentences))("the contract says: %s", (sentence) => {
  expect(contract.includes(sentence)).toBe(true);
});

test("every sentence is proved by a case, and every case proves one", () => {
  const proved = new Set(cases.map(({ sentence }) => sentence));
  expect([...proved].sort()).toEqual(Object.values(sentences).sort());
});

test("no two cases have the same name", () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
});
