import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "@turnkeep/model-servers";
import { expect, test } from "vitest";

test("prints what the model sees and all that was said", async () => {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-example-"));
  const printed = await runProgram({
    load: () => import("../src/main.ts"),
    env: { CHAT_FILE: join(folder, "chat.db") },
  });
  rmSync(folder, { recursive: true });
  const output = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(printed).toBe(output);
});

test("it has 30 lines or fewer", () => {
  const source = readFileSync(new URL("../src/main.ts", import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
});
