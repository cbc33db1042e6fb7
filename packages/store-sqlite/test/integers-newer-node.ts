import BetterSqlite3 from "better-sqlite3";
import { nodeSqlite, type SqliteDatabase } from "../src/drivers.ts";
import { toldBy } from "./integers.ts";

// Tells, as JSON, what stores over clients say that read integers as bigints: for a Node that has node:sqlite.
const { DatabaseSync } = nodeSqlite() as {
  DatabaseSync: new (path: string, options: object) => SqliteDatabase;
};
const ofNode = new DatabaseSync(":memory:", { readBigInts: true });
const ofBetter = new BetterSqlite3(":memory:").defaultSafeIntegers();
console.log(JSON.stringify([await toldBy(ofNode), await toldBy(ofBetter)]));
