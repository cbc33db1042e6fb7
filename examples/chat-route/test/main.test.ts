import { readFileSync } from "node:fs";
import { runProgram } from "@turnkeep/model-servers";
import { expect, test, vi } from "vitest";

test("the SDK's own chat asks, asks anew, approves and edits", async () => {
  const output = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  // The servers' tests may have asked the same model, which counts its answers.
  vi.resetModules();
  expect(await runProgram({ load: () => import("../src/main.ts") })).toBe(output);
});
