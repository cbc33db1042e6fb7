import { readFileSync } from "node:fs";
// Brings the type of `inject("dynamoUrl")` with it.
import type {} from "@turnkeep/servers";
import { expect, inject, test, vi } from "vitest";

test("prints what the model sees and all that was said", async () => {
  vi.stubEnv("DYNAMO_URL", inject("dynamoUrl"));
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => printed.push(line));
  await import("../src/main.ts");
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  const expected = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(`${printed.join("\n")}\n`).toBe(expected);
});

test("it has 30 lines or fewer", () => {
  const source = readFileSync(new URL("../src/main.ts", import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
});
