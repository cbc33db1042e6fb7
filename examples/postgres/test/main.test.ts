import { readFileSync } from "node:fs";
import { runProgram } from "@turnkeep/model-servers";
import { createDatabase } from "@turnkeep/servers";
import { expect, inject, test } from "vitest";

test("prints what the model sees and all that was said", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  const printed = await runProgram({
    load: () => import("../src/main.ts"),
    env: { DATABASE_URL: database.url },
  });
  await database.drop();
  const output = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(printed).toBe(output);
});

test("it has 30 lines or fewer", () => {
  const source = readFileSync(new URL("../src/main.ts", import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
});
