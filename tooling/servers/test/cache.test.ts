import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cached } from "../src/cache.ts";
import { testFolder } from "./support.ts";

test("a folder that is being filled stays, also when what is unpacked into it dates it back", async () => {
  const cache = testFolder();
  const env = { TURNKEEP_CACHE: cache };
  const fillOther = (folder: string): Promise<void> => writeFile(join(folder, "file"), "other");
  const one = await cached("one", env, async (folder) => {
    utimesSync(folder, 0, 0);
    await cached("other", env, fillOther);
    await writeFile(join(folder, "file"), "one");
  });
  expect(readFileSync(join(one, "file"), "utf8")).toBe("one");
  expect(readdirSync(cache).sort()).toEqual(["one", "other"]);
});

test("what an interrupted download has left is removed after an hour", async () => {
  const cache = testFolder();
  const begun = (minutes: number): string => `pgbouncer.partial-${Date.now() - minutes * 60_000}-a`;
  const [late, early] = [begun(59), begun(61)];
  for (const name of [late, early]) {
    mkdirSync(join(cache, name));
    writeFileSync(join(cache, name, "file"), "half");
  }
  await cached("one", { TURNKEEP_CACHE: cache }, async () => {});
  expect(existsSync(join(cache, early))).toBe(false);
  expect(existsSync(join(cache, late))).toBe(true);
});

test("of several who fill one at once each gets it whole, and nothing else is left", async () => {
  const cache = testFolder();
  const fill = async (folder: string): Promise<void> => {
    await writeFile(join(folder, "first"), "");
    await writeFile(join(folder, "last"), "");
  };
  const folders = await Promise.all([1, 2, 3].map(() => cached("one", { TURNKEEP_CACHE: cache }, fill)));
  for (const folder of folders) expect(readdirSync(folder).sort()).toEqual(["first", "last"]);
  expect(readdirSync(cache)).toEqual(["one"]);
});
