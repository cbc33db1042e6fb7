import { expect, test } from "vitest";
import { inFreshProcesses } from "../src/fresh-process.ts";
import { compare, leadOf } from "../src/tokens/compare.ts";
import { realText, samplesOf, sizes } from "../src/tokens/samples.ts";

const characters = { name: "ours", count: (text: string) => text.length };

test("a peer that counts one text of one kind otherwise is left out of all", () => {
  const samples = new Map([
    ["short", [["a", "b"], ["c"]]],
    ["long", [["word"], ["words", "wordy"]]],
  ]);
  const right = { name: "right", count: (text: string) => [...text].length };
  const wrong = { name: "wrong", count: (text: string) => (text === "wordy" ? 6 : text.length) };
  const { speeds, differing } = compare([characters, right, wrong], samples, 0);
  expect(differing).toEqual(new Map([["wrong", 1]]));
  expect([...speeds].map(([kind, byName]) => [kind, [...byName.keys()]])).toEqual([
    ["short", ["ours", "right"]],
    ["long", ["ours", "right"]],
  ]);
});

test("a peer that is wrong only while it warms up is left out too", () => {
  const wrong = { name: "wrong", count: (text: string) => (text === "a" ? 2 : text.length) };
  const { differing } = compare([characters, wrong], new Map([["short", [["a"], ["b"]]]]), 0);
  expect([...differing.keys()]).toEqual(["wrong"]);
});

test("a lead is over the fastest other one", () => {
  const speeds = new Map([
    ["ours", 30],
    ["slow", 2],
    ["fast", 10],
  ]);
  expect(leadOf("ours", speeds)).toBe(3);
  expect(leadOf("ours", new Map([["ours", 30]]))).toBe(Number.POSITIVE_INFINITY);
});

test("samples are the same in each run, and no real text comes twice", () => {
  const [one, again] = [samplesOf(sizes.quick), samplesOf(sizes.quick)];
  expect(again).toEqual(one);
  for (const [kind, rounds] of one) expect(rounds, kind).toHaveLength(sizes.quick.rounds);
  const real = one.get(realText)?.flat() ?? [];
  expect(new Set(real).size).toBe(real.length);
});

test("there is as much real text as all rounds ask for", () => {
  expect(samplesOf(sizes.full).get(realText)).toHaveLength(sizes.full.rounds);
  expect(() => samplesOf({ rounds: 1, bytes: 1e9 })).toThrow("less text");
});

test("a fresh process tells the time and the memory of what it runs, beyond those of an empty one", () => {
  const folder = import.meta.dirname;
  const costs = inFreshProcesses(
    [
      { name: "little", folder, code: "await 1;" },
      { name: "much", folder, code: "globalThis.held = new Uint8Array(200_000_000).fill(1);" },
    ],
    1,
    () => {},
  );
  expect([...costs.keys()]).toEqual(["little", "much"]);
  expect(costs.get("much")?.megabytes).toBeGreaterThan(150);
  expect(costs.get("little")?.megabytes).toBeLessThan(20);
  expect(costs.get("little")?.ms).toBeGreaterThan(0);
});

test("a fresh process that fails has no figures", () => {
  const failing = { name: "failing", folder: import.meta.dirname, code: 'throw new Error("no");' };
  expect(() => inFreshProcesses([failing], 1, () => {})).toThrow("Command failed");
});
