import { constants, existsSync, realpathSync } from "node:fs";
import { copyFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { invalidOption } from "@turnkeep/core/store-kit";
import { type SqliteDatabase, type SqliteStoreOptions, sqliteStore } from "@turnkeep/store-sqlite";
import { uncopyable } from "./copy-database.ts";
import type { Place } from "./folder.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** How a file of SQLite's is named here: others are no databases. */
const files = /\.(?:db|sqlite3?)$/i;

export function isSqliteFile(path: string): boolean {
  return files.test(path);
}

/** Opens a file, which may be new; a program may have it open too. */
export function fileToWrite(file: string): Place {
  return placeOf({ file });
}

/** Opens a file, or a copy of it, in such a way that nothing of it can be changed, its settings included. */
export async function fileToRead(file: string): Promise<Place> {
  if (!existsSync(file)) throw invalidOption(`There is no file ${file}. Name a database of SQLite's.`);
  const sqlite = process.getBuiltinModule("node:sqlite") as NodeSqlite | undefined;
  // Where there is no node:sqlite, the store says so.
  if (sqlite === undefined) return placeOf({ file });
  const folder = temporaryFolder("inspect");
  try {
    const copy = await copyUnlessOpen(realpathSync(file), folder.path);
    const client = new sqlite.DatabaseSync(copy ?? file, { readOnly: true });
    const { store } = placeOf({ client });
    return {
      store,
      async close() {
        await store.close();
        client.close();
        folder.remove();
      },
    };
  } catch (error) {
    folder.remove();
    throw error;
  }
}

/** It only has to outlast a program that opened the file and closed it. */
const maxAttempts = 3;

/**
 * Copies a file that no program has open. Even who only reads it leaves two files beside it, which lock a program out that may
 * not write to them. Answers `undefined` for one that is open: there they are already, and hold a part of what it says.
 */
async function copyUnlessOpen(file: string, folder: string): Promise<string | undefined> {
  const copy = join(folder, basename(file));
  try {
    for (let attempt = 0; attempt < maxAttempts && !isOpen(file); attempt++) {
      const before = await stat(file, { bigint: true });
      await copyFile(file, copy, constants.COPYFILE_FICLONE);
      const after = await stat(file, { bigint: true });
      // A program may have opened it meanwhile, and even have closed it again.
      if (!isOpen(file) && before.mtimeNs === after.mtimeNs && before.size === after.size) return copy;
    }
  } catch (cause) {
    throw uncopyable(file, folder, cause);
  }
  return undefined;
}

/** Whether SQLite keeps a log beside it, of a program that has it open or was stopped. */
function isOpen(file: string): boolean {
  return ["-wal", "-journal"].some((end) => existsSync(file + end));
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
