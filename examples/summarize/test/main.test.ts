import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";

test("prints what the model sees, and the summary that stands for the rest", async () => {
  vi.stubEnv("MODEL", "");
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => printed.push(line));
  await import("../src/main.ts");
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  const expected = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(`${printed.join("\n")}\n`).toBe(expected);
});
