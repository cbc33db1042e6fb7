import { readFileSync } from "node:fs";
import { runProgram } from "@turnkeep/model-servers";
import { expect, test } from "vitest";

test("a page of assistant-ui asks, asks anew, edits, goes back and is loaded again", async () => {
  const output = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(await runProgram({ load: () => import("../src/main.ts") })).toBe(output);
});
