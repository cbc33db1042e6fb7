import { readFileSync } from "node:fs";
import { runProgram } from "@turnkeep/model-servers";
import { expect, test } from "vitest";

test("prints what the model sees, and the summary that stands for the rest", async () => {
  const env = { MODEL: "" };
  const output = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(await runProgram({ load: () => import("../src/main.ts"), env })).toBe(output);
});
