import { expect, it, vi } from "vitest";

const loads = vi.hoisted((): string[] => []);

// The vocabularies stay as they are; that they are read is written down.
vi.mock("../src/vocabularies/o200k_base.ts", (original) => {
  loads.push("o200k_base");
  return original();
});
vi.mock("../src/vocabularies/cl100k_base.ts", (original) => {
  loads.push("cl100k_base");
  return original();
});
vi.mock("../src/vocabularies/r50k_base.ts", (original) => {
  loads.push("r50k_base");
  return original();
});

it("reads no vocabulary before a counter is asked for, and then that one only, once", async () => {
  const { countTools, textCounter, tokenCounter } = await import("../src/index.ts");
  expect(loads).toEqual([]);
  await tokenCounter("cl100k_base");
  await textCounter("gpt-4");
  await countTools("gpt-4o", []);
  await expect(textCounter("gpt-99")).rejects.toThrow("gpt-99");
  expect(loads).toEqual(["cl100k_base"]);
  const count = await textCounter("o200k_base");
  expect(loads).toEqual(["cl100k_base", "o200k_base"]);
  expect(count("two words")).toBe(2);
  await tokenCounter("gpt-oss-20b");
  await textCounter("gpt2");
  expect(loads).toEqual(["cl100k_base", "o200k_base", "r50k_base"]);
});
