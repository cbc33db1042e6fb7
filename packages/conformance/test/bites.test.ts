import { expect, test } from "vitest";
import { cases, runConformance } from "../src/index.ts";
import { brokenAlike } from "./broken-alike.ts";
import { brokenCalls } from "./broken-calls.ts";
import { brokenClients } from "./broken-clients.ts";
import { brokenContents } from "./broken-contents.ts";
import { brokenCorners } from "./broken-corners.ts";
import { brokenCrashes } from "./broken-crashes.ts";
import { brokenDamage } from "./broken-damage.ts";
import { brokenDeletes } from "./broken-deletes.ts";
import { brokenEdges } from "./broken-edges.ts";
import { brokenExpiry } from "./broken-expiry.ts";
import { brokenFull } from "./broken-full.ts";
import { brokenHistory } from "./broken-history.ts";
import { brokenKeys } from "./broken-keys.ts";
import { brokenLarge } from "./broken-large.ts";
import { brokenLists } from "./broken-lists.ts";
import { brokenLives } from "./broken-lives.ts";
import { brokenMembers } from "./broken-members.ts";
import { brokenNames } from "./broken-names.ts";
import { brokenReads } from "./broken-reads.ts";
import type { BrokenStore } from "./broken-store.ts";
import { brokenTexts } from "./broken-texts.ts";
import { brokenVersions } from "./broken-versions.ts";
import { brokenWrites } from "./broken-writes.ts";
import { referenceHarness } from "./reference-store.ts";

const brokenStores: readonly BrokenStore[] = [
  ...brokenWrites,
  ...brokenVersions,
  ...brokenReads,
  ...brokenFull,
  ...brokenHistory,
  ...brokenNames,
  ...brokenContents,
  ...brokenLives,
  ...brokenCalls,
  ...brokenDamage,
  ...brokenAlike,
  ...brokenTexts,
  ...brokenEdges,
  ...brokenDeletes,
  ...brokenExpiry,
  ...brokenKeys,
  ...brokenLarge,
  ...brokenLists,
  ...brokenMembers,
  ...brokenClients,
  ...brokenCrashes,
  ...brokenCorners,
];

test.each(brokenStores.map((broken) => [broken.fault, broken] as const))(
  "a store that %s is caught",
  async (_, broken) => {
    const [group, name] = broken.caughtBy;
    const named = cases.filter((member) => member.name === name && member.group === group);
    expect(named, `the case ${group}: ${name}`).toHaveLength(1);
    const { results } = await runConformance(referenceHarness(broken), {
      cases: named,
      seed: 1,
      timeoutMs: 10_000,
    });
    const [result] = results;
    expect(result?.status).toBe("failed");
    if (result?.status !== "failed") return;
    // It was found out by what was seen, not by a fault of the kit, and without a dump of what is stored.
    expect(result.message).toMatch(/expected|saw/);
    expect(Math.max(...result.message.split("\n").map((line) => line.length))).toBeLessThan(700);
  },
);

test("every case of the kit is failed by some broken store", () => {
  const failed = new Set(brokenStores.map(({ caughtBy }) => caughtBy.join(": ")));
  const idle = cases.map(({ group, name }) => `${group}: ${name}`).filter((name) => !failed.has(name));
  expect(idle).toEqual([]);
});

test("no two broken stores have the same fault", () => {
  expect(new Set(brokenStores.map(({ fault }) => fault)).size).toBe(brokenStores.length);
});
