import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DatabaseSync } from "@photostructure/sqlite";
import { type FaultOptions, failing } from "@turnkeep/conformance";
import type { MemoryUpdate, StoredMessage } from "@turnkeep/core";
import type { SqliteClient } from "../src/index.ts";

export type Database = InstanceType<typeof DatabaseSync>;

/** A file for one test file's database, in a folder of its own. */
export interface DatabaseFile {
  readonly path: string;
  readonly url: string;
  /** A connection past the store, for what tests look at or break themselves. */
  open(): Database;
  remove(): void;
}

export function newDatabaseFile(): DatabaseFile {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-sqlite-"));
  const path = join(folder, "chat.db");
  return {
    path,
    url: pathToFileURL(path).href,
    open: () => new DatabaseSync(path, { timeout: 5_000 }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A change of a memory; what is left out is empty. `version` is fresh unless it is given. */
export function update(
  expected: string | null,
  nextSeq: number,
  change: Partial<MemoryUpdate> = {},
): MemoryUpdate {
  return { expected, version: randomUUID(), nextSeq, append: [], replace: [], move: [], ...change };
}

export function message(seq: number, payload: string = `{"n":${seq}}`): StoredMessage {
  return { id: `m${seq}`, seq, createdAt: 1_700_000_000_000 + seq, payload };
}

/** A text column of a row that belongs to a memory, and how to find it again. */
interface Place {
  readonly table: "memories" | "messages";
  readonly row: number;
  readonly column: string;
  readonly text: string;
}

/** Every text of a memory that the store did not choose itself, and those of messages that belong to no memory. */
function placesOf(database: Database, memoryId: string): Place[] {
  const memories = ["version", "owner", "head", "data"].map((column) => ({
    table: "memories" as const,
    column,
  }));
  const messages = ["id", "payload", "meta"].map((column) => ({ table: "messages" as const, column }));
  return [...memories, ...messages].flatMap(({ table, column }) => {
    const rows = database
      .prepare(
        `select t.rowid as row, t.${column} as text from turnkeep_${table} t
         left join turnkeep_memories h on h.memory_key = t.memory_key
         where t.${column} is not null and (h.memory_id = ? or h.memory_id is null) order by t.rowid`,
      )
      .all(memoryId) as { row: number; text: string }[];
    return rows.map(({ row, text }) => ({ table, row, column, text }));
  });
}

export function rawRead(database: Database, memoryId: string): string[] {
  return placesOf(database, memoryId).map(({ text }) => text);
}

export function rawWrite(database: Database, memoryId: string, texts: readonly string[]): void {
  for (const [index, { table, row, column, text }] of placesOf(database, memoryId).entries()) {
    const set = `update turnkeep_${table} set ${column} = ? where rowid = ?`;
    database.prepare(set).all(texts[index] ?? text, row);
  }
}

/** Removes the row that holds the text at this index of what `rawRead` answers. */
export function rawRemove(database: Database, memoryId: string, index: number): void {
  const place = placesOf(database, memoryId)[index];
  if (place === undefined) return;
  database.prepare(`delete from turnkeep_${place.table} where rowid = ?`).all(place.row);
}

/**
 * A client that fails as the kit says: without more than a `step` it dies as a process does. Whatever fails in a
 * transaction undoes it.
 */
export function failingClient(file: DatabaseFile, options: FaultOptions): SqliteClient & { close(): void } {
  const database = file.open();
  const fault = failing(options);
  function run<T>(sql: string, call: () => T): T {
    const isWrite = /^\s*(?:insert|update|delete|commit)/i.test(sql);
    try {
      if (!isWrite) fault.read();
      const answered = isWrite ? fault.write() : undefined;
      const answer = call();
      answered?.();
      return answer;
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  }
  return {
    exec: (sql) => run(sql, () => database.exec(sql)),
    prepare(sql) {
      const statement = database.prepare(sql);
      return { all: (...values) => run(sql, () => statement.all(...values)) };
    },
    location: () => file.path,
    close: () => database.close(),
  };
}

/** What a connection's user could see of its settings. */
export function settingsOf(database: Database): unknown {
  const names = ["busy_timeout", "synchronous", "foreign_keys", "journal_mode"];
  return names.map((name) => ({ ...(database.prepare(`pragma ${name}`).all()[0] as object) }));
}
