import { readdirSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { sep } from "node:path";
import { type ChatMemoryStore, isTurnkeepError, TurnkeepError } from "@turnkeep/core";
import { invalidOption } from "@turnkeep/core/store-kit";
import { postgresStore } from "@turnkeep/store-postgres";
import { copyDatabase } from "./copy-database.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** An open store; closing it closes the database too. */
export interface Place {
  readonly store: ChatMemoryStore;
  close(): Promise<void>;
}

/** Opens a folder of PGlite's, which may be new, in this process alone. */
export function folderToWrite(folder: string): Place {
  checkNoFile(folder);
  const store = postgresStore({ folder });
  return { store, close: () => store.close() };
}

/**
 * Opens a copy of a folder. To open the folder itself, even to read, would destroy the database of a program that has it
 * open: Postgres writes whenever it begins.
 */
export async function folderToRead(folder: string): Promise<Place> {
  checkDatabase(folder);
  checkRoomOutside(folder);
  const copy = temporaryFolder("inspect");
  try {
    await copyDatabase(folder, copy.path);
    const store = postgresStore({ folder: copy.path });
    await checkOpens(store, copy.path, folder);
    return {
      store,
      async close() {
        await store.close();
        copy.remove();
      },
    };
  } catch (error) {
    copy.remove();
    throw error;
  }
}

/** What cannot be opened is named as the user knows it. Anything else that is wrong, the command meets itself. */
async function checkOpens(store: ChatMemoryStore, copy: string, folder: string): Promise<void> {
  try {
    await store.listMemories({ limit: 1 });
  } catch (error) {
    if (!isTurnkeepError(error, "STORE_REFUSED")) return;
    throw new TurnkeepError(error.code, error.message.replaceAll(copy, folder), { cause: error.cause });
  }
}

function checkNoFile(folder: string): void {
  if (!isFile(folder)) return;
  throw invalidOption(
    `${folder} is a file and no folder. Name a folder of PGlite's, or a JavaScript file that exports a store.`,
  );
}

/** What cannot be looked at is told by what opens it. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function checkDatabase(folder: string): void {
  checkNoFile(folder);
  if (!namesIn(folder).includes("PG_VERSION")) {
    throw invalidOption(`There is no database in ${folder}. Name a folder of PGlite's.`);
  }
}

/** A copy within what is copied would hold itself, and so on without end. */
function checkRoomOutside(folder: string): void {
  if (!`${realpathSync(tmpdir())}${sep}`.startsWith(`${realpathSync(folder)}${sep}`)) return;
  throw invalidOption(
    `TMPDIR lies in ${folder}, of which a copy is made there. Set TMPDIR to a folder outside of it.`,
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") throw invalidOption(`There is no folder ${folder}. Name a folder of PGlite's.`);
    throw invalidOption(`The folder ${folder} cannot be read (${code}). See to its permissions.`);
  }
}
