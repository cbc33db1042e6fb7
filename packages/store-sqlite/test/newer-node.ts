import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConformanceGroup, type ConformanceHarness, runConformance } from "@turnkeep/conformance";
import BetterSqlite3 from "better-sqlite3";
import { nodeSqlite } from "../src/drivers.ts";
import { type SqliteClient, sqliteStore } from "../src/index.ts";
import { harnessOver, sent } from "./harness.ts";

// Runs the kit where Node has node:sqlite, and writes the results to the file named first.
const [answer = "", kind, ...groups] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "turnkeep-sqlite-"));
const file = join(folder, "chat.db");

const settings = "pragma journal_mode = wal; pragma busy_timeout = 5000";
function openNode(): SqliteClient {
  const database = new (nodeSqlite().DatabaseSync)(file);
  database.exec(settings);
  return database;
}
function openBetter(): SqliteClient {
  const database = new BetterSqlite3(file);
  database.exec(settings);
  return database;
}

const harnesses: Readonly<Record<string, () => ConformanceHarness>> = {
  file: () => ({
    ...harnessOver(openNode),
    async create(options) {
      const store = sqliteStore({ file, ...options });
      await store.migrate();
      return store;
    },
  }),
  "node:sqlite": () => harnessOver(openNode),
  "better-sqlite3": () => harnessOver(openBetter),
};

const harness = harnesses[kind ?? ""];
if (harness === undefined) throw new Error(`There is no client ${kind}`);
const { results } = await runConformance(harness(), { groups: groups as ConformanceGroup[] });
writeFileSync(answer, sent(results));
rmSync(folder, { recursive: true, force: true });
process.exit(0);
