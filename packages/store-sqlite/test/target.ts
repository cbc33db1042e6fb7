import type { ChatMemoryStore } from "@turnkeep/core";
import Database from "libsql";
import { sqliteStore } from "../src/index.ts";

/** As an application would open the file: with what Node has, else with a driver. */
export async function openStore(file: string): Promise<ChatMemoryStore> {
  const hasSqlite = process.getBuiltinModule("node:sqlite") !== undefined;
  const store = hasSqlite ? sqliteStore({ file }) : sqliteStore({ client: new Database(file) });
  await store.migrate();
  return store;
}
