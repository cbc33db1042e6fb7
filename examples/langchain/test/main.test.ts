import { readFileSync } from "node:fs";
import { runProgram } from "@turnkeep/model-servers";
import { expect, test } from "vitest";

test("prints what an agent is shown, what is kept, and whom it refuses", async () => {
  const output = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(await runProgram({ load: () => import("../src/main.ts") })).toBe(output);
});
