import { readFileSync } from "node:fs";
import { runProgram } from "@turnkeep/model-servers";
// Brings the type of `inject("dynamoUrl")` with it.
import type {} from "@turnkeep/servers";
import { expect, inject, test } from "vitest";

test("prints what the model sees and all that was said", async () => {
  const env = { DYNAMO_URL: inject("dynamoUrl") };
  const output = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(await runProgram({ load: () => import("../src/main.ts"), env })).toBe(output);
});

test("it has 30 lines or fewer", () => {
  const source = readFileSync(new URL("../src/main.ts", import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
});
