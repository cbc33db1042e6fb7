import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cases, conformanceGroups } from "../src/index.ts";
import { brokenExpiryRaces } from "./broken-expiry-races.ts";
import { brokenFaults } from "./broken-faults.ts";
import { brokenHooks } from "./broken-hooks.ts";
import { brokenLeftBehind } from "./broken-left-behind.ts";
import { brokenLimits } from "./broken-limits.ts";
import { brokenProcesses } from "./broken-processes.ts";
import { brokenStores } from "./broken-stores.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test.each(conformanceGroups)(
  "the README counts the cases of %s and the stores that they find out",
  (group) => {
    const row = readme.split("\n").find((line) => line.startsWith(`| \`${group}\` |`));
    const numbers = row?.split("|").slice(3, 5).map(Number);
    const found = brokenStores.filter(({ caughtBy }) => caughtBy[0] === group);
    expect(numbers).toEqual([cases.filter((member) => member.group === group).length, found.length]);
  },
);

test("the README counts all broken stores, and names those that look right for long", () => {
  expect(readme).toContain(`${brokenStores.length} in all`);
  expect(readme).toContain(`| ${brokenHooks.length}, such as a revision`);
  const lasting = [
    ...[brokenProcesses, brokenExpiryRaces, brokenLimits, brokenFaults, brokenLeftBehind].flat(),
  ].map(({ fault }) => fault);
  expect(lasting.filter((fault) => !readme.includes(fault))).toEqual([]);
});
