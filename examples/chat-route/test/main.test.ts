import { readFileSync } from "node:fs";
import { runProgram } from "@turnkeep/model-servers";
import { expect, test } from "vitest";

test("the SDK's own chat asks, asks anew, approves and edits", async () => {
  const output = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(await runProgram({ load: () => import("../src/main.ts") })).toBe(output);
});
