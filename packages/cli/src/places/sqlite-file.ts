import { existsSync } from "node:fs";
import { invalidOption } from "@turnkeep/core/store-kit";
import { type SqliteDatabase, type SqliteStoreOptions, sqliteStore } from "@turnkeep/store-sqlite";
import type { Place } from "./folder.ts";

/** How a file of SQLite's is named here: others are no databases. */
const files = /\.(?:db|sqlite3?)$/i;

export function isSqliteFile(path: string): boolean {
  return files.test(path);
}

/** Opens a file, which may be new; a program may have it open too. */
export function fileToWrite(file: string): Place {
  return placeOf({ file });
}

/** Opens a file in such a way that nothing of it can be changed, its settings included. */
export function fileToRead(file: string): Place {
  if (!existsSync(file)) throw invalidOption(`There is no file ${file}. Name a database of SQLite's.`);
  const sqlite = process.getBuiltinModule("node:sqlite") as NodeSqlite | undefined;
  // Where there is no node:sqlite, the store says so.
  if (sqlite === undefined) return placeOf({ file });
  const client = new sqlite.DatabaseSync(file, { readOnly: true });
  const { store } = placeOf({ client });
  return {
    store,
    async close() {
      await store.close();
      client.close();
    },
  };
}

interface NodeSqlite {
  readonly DatabaseSync: new (
    file: string,
    options: { readonly readOnly: true },
  ) => SqliteDatabase & { close(): void };
}

function placeOf(options: SqliteStoreOptions): Place {
  const store = sqliteStore(options);
  return { store, close: () => store.close() };
}
