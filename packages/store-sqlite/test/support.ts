import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll } from "vitest";

/** The path of a file that is not there yet, in a folder of its own that is removed at the end of the test file. */
export function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-sqlite-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "chat.db");
}

/** A connection by `libsql`, the driver that every Node here has, as the README sets one up. */
export function openLibsql(file: string): Database.Database {
  const database = new Database(file, { timeout: 5_000 });
  database.exec("pragma journal_mode = wal");
  return database;
}

/** Opens further connections to one file, and ends them with the test file. */
export function connectionsTo(file: string): () => Database.Database {
  const opened: Database.Database[] = [];
  afterAll(() => {
    for (const database of opened) database.close();
  });
  return () => {
    const database = openLibsql(file);
    opened.push(database);
    return database;
  };
}
