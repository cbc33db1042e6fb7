import { readFileSync } from "node:fs";
import { createDatabase } from "@turnkeep/servers";
import { expect, inject, test, vi } from "vitest";

test("prints what the model sees and all that was said", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  vi.stubEnv("DATABASE_URL", database.url);
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => printed.push(line));
  await import("../src/main.ts");
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await database.drop();
  const expected = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(`${printed.join("\n")}\n`).toBe(expected);
});

test("it has 30 lines or fewer", () => {
  const source = readFileSync(new URL("../src/main.ts", import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
});
