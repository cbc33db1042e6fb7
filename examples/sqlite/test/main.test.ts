import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";

test("prints what the model sees and all that was said", async () => {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-example-"));
  vi.stubEnv("CHAT_FILE", join(folder, "chat.db"));
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => printed.push(line));
  await import("../src/main.ts");
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
  const expected = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(`${printed.join("\n")}\n`).toBe(expected);
});

test("it has 30 lines or fewer", () => {
  const source = readFileSync(new URL("../src/main.ts", import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
});
