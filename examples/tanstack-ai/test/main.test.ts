import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";

test("prints what an agent is shown, what is kept, and whom it refuses", async () => {
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((...words) => printed.push(words.join(" ")));
  await import("../src/main.ts");
  vi.restoreAllMocks();
  const expected = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(`${printed.join("\n")}\n`).toBe(expected);
});
