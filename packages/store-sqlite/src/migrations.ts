import { laterVersionError } from "@turnkeep/core/store-kit";
import type { Calls } from "./client.ts";
import type { Whole } from "./records.ts";
import { storeName } from "./refusals.ts";
import type { Statement } from "./sql.ts";

/** The quoted names of what the store owns in a database. */
export interface Identifiers {
  readonly memories: string;
  readonly messages: string;
  readonly live: string;
  readonly migrations: string;
  /** The name of an index or a trigger. */
  readonly own: (suffix: string) => string;
}

export function identifiersOf(prefix: string): Identifiers {
  const own = (suffix: string): string => `"${(prefix + suffix).replaceAll('"', '""')}"`;
  return {
    memories: own("memories"),
    messages: own("messages"),
    live: own("live"),
    migrations: own("migrations"),
    own,
  };
}

/** The steps in order, each a list of statements; step 1 is the first. A released step never changes. */
export function migrationsOf({ memories, messages, live, own }: Identifiers): (readonly string[])[] {
  return [
    // The key identifies one life of a memory id and is never used again, so what belonged to an earlier life can never
    // show in a later one. Only the table of live messages tells which ones are live: an eviction touches no message, and
    // a live one whose row somebody else removes is missed. What is short comes first, so that it is read without the
    // payload. A trigger deletes messages: whether a foreign key holds is a setting of each connection.
    [
      `create table ${memories} (
        memory_key integer primary key autoincrement,
        memory_id text collate binary not null unique,
        owner text collate binary,
        version text collate binary not null,
        next_seq integer not null,
        updated_at integer not null,
        expires_at integer,
        head text
      ) strict`,
      `create index ${own("memories_owner_idx")} on ${memories} (owner, memory_key) where owner is not null`,
      `create index ${own("memories_expiry_idx")} on ${memories} (expires_at) where expires_at is not null`,
      `create table ${messages} (
        memory_key integer not null,
        seq integer not null,
        superseded integer not null,
        id text collate binary not null,
        created_at integer not null,
        meta text,
        payload text not null,
        primary key (memory_key, seq)
      ) strict`,
      `create index ${own("messages_id_idx")} on ${messages} (memory_key, id)`,
      `create table ${live} (
        memory_key integer not null,
        seq integer not null,
        primary key (memory_key, seq)
      ) strict, without rowid`,
      `create trigger ${own("delete_messages")} after delete on ${memories} begin
        delete from ${messages} where memory_key = old.memory_key;
        delete from ${live} where memory_key = old.memory_key;
      end`,
    ],
    // What the application says about a conversation; and its last activity, as coarsely as writes note it. To SQLite a column
    // is changed when a statement sets it, whatever the value, and each index of it is written. So writes do not set it: a
    // trigger does, where what is noted has become older than the last writer wants it. It does so for writers who do not know
    // these columns, too.
    [
      `alter table ${memories} add column data text`,
      `alter table ${memories} add column active_at integer not null default 0`,
      `alter table ${memories} add column activity_ms integer not null default 60000`,
      `update ${memories} set active_at = updated_at`,
      `create index ${own("memories_active_idx")} on ${memories} (active_at)`,
      `create index ${own("memories_owner_active_idx")} on ${memories} (owner, active_at) where owner is not null`,
      `create trigger ${own("note_beginning")} after insert on ${memories} when new.active_at = 0 begin
        update ${memories} set active_at = new.updated_at where memory_key = new.memory_key;
      end`,
      `create trigger ${own("note_activity")} after update of updated_at on ${memories}
        when new.active_at + new.activity_ms <= new.updated_at begin
        update ${memories} set active_at = new.updated_at where memory_key = new.memory_key;
      end`,
    ],
  ];
}

/**
 * Brings the tables up to date, each step in one transaction. Its number is written first: of two who make the same step at
 * once the second meets it and undoes its own.
 */
export async function migrate(
  { run, batch }: Calls,
  { migrations }: Identifiers,
  steps: readonly (readonly string[])[],
): Promise<void> {
  const applied = async (): Promise<number> => {
    const text = `select coalesce(max(number), 0) as number from ${migrations}`;
    const [row] = await run<{ number: Whole }>({ text, values: [] });
    return Number(row?.number ?? 0);
  };
  const ddl = (text: string): Statement<never> => ({ text, values: [] });
  await run(
    ddl(
      `create table if not exists ${migrations} (number integer primary key, applied_at text not null) strict`,
    ),
  );
  for (let done = await applied(); ; done = await applied()) {
    if (done > steps.length) throw laterVersionError(storeName, "the tables", "@turnkeep/store-sqlite");
    const step = steps[done];
    if (step === undefined) return;
    const numbered = `insert into ${migrations} (number, applied_at) values (${done + 1}, datetime('now'))`;
    try {
      await batch([numbered, ...step].map(ddl));
    } catch (cause) {
      // Somebody else was faster.
      if ((await applied()) === done) throw cause;
    }
  }
}
