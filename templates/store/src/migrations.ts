import { laterVersionError } from "@turnkeep/core/store-kit";
import type { Run } from "./client.ts";
import { storeName } from "./refusals.ts";

/** The quoted names of what the store owns in a database. */
export interface Identifiers {
  readonly memories: string;
  readonly messages: string;
  readonly live: string;
  readonly migrations: string;
  readonly ownerIndex: string;
  readonly activeIndex: string;
  readonly ownerActiveIndex: string;
  readonly expiryIndex: string;
  readonly idIndex: string;
}

export function identifiersOf(prefix: string): Identifiers {
  const own = (suffix: string): string => `"${(prefix + suffix).replaceAll('"', '""')}"`;
  return {
    memories: own("memories"),
    messages: own("messages"),
    live: own("live"),
    migrations: own("migrations"),
    ownerIndex: own("memories_owner_idx"),
    activeIndex: own("memories_active_idx"),
    ownerActiveIndex: own("memories_owner_active_idx"),
    expiryIndex: own("memories_expiry_idx"),
    idIndex: own("messages_id_idx"),
  };
}

/** The steps in order; step 1 is the first. A step that was released never changes. */
export function migrationsOf(names: Identifiers): (readonly string[])[] {
  const { memories, messages, live, ownerIndex, activeIndex, ownerActiveIndex, expiryIndex, idIndex } = names;
  return [
    // The key stands for one life of a memory id, and is never used again: what belonged to an earlier life can never
    // show in a later one. Texts compare by their bytes, whatever collation a database's owner is used to. There is no
    // foreign key: whether one holds is a setting of each connection, and the store deletes messages itself.
    [
      `create table ${memories} (
        memory_key integer primary key autoincrement,
        memory_id text collate binary not null unique,
        owner text collate binary,
        version text collate binary not null,
        next_seq integer not null,
        head text,
        data text,
        updated_at integer not null,
        active_at integer not null,
        expires_at integer
      ) strict`,
      `create index ${ownerIndex} on ${memories} (owner, memory_key) where owner is not null`,
      `create index ${activeIndex} on ${memories} (active_at)`,
      `create index ${ownerActiveIndex} on ${memories} (owner, active_at) where owner is not null`,
      `create index ${expiryIndex} on ${memories} (expires_at) where expires_at is not null`,
      `create table ${messages} (
        memory_key integer not null,
        seq integer not null,
        id text collate binary not null,
        state text collate binary not null check (state in ('live', 'evicted', 'superseded')),
        created_at integer not null,
        payload text not null,
        meta text,
        primary key (memory_key, seq)
      ) strict`,
      // Which messages are live, apart from the messages: so a row that somebody else removes is missed.
      `create table ${live} (
        memory_key integer not null,
        seq integer not null,
        primary key (memory_key, seq)
      ) strict, without rowid`,
      `create index ${idIndex} on ${messages} (memory_key, id)`,
    ],
  ];
}

/**
 * Brings the tables up to date, within one transaction: of several processes one writes, the others wait for it and
 * find all in place.
 */
export function migrate(run: Run, { migrations }: Identifiers, steps: readonly (readonly string[])[]): void {
  const execute = (text: string): object[] => run<object>({ text, values: [] });
  execute(
    `create table if not exists ${migrations} (number integer primary key, applied_at text not null) strict`,
  );
  const text = `select coalesce(max(number), 0) as applied from ${migrations}`;
  const applied = run<{ applied: number }>({ text, values: [] })[0]?.applied ?? 0;
  if (applied > steps.length) throw laterVersionError(storeName, "the tables", "this package");
  for (const [index, step] of steps.entries()) {
    if (index < applied) continue;
    for (const statement of step) execute(statement);
    execute(`insert into ${migrations} (number, applied_at) values (${index + 1}, datetime('now'))`);
  }
}
