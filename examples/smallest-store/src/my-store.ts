import type { PGlite } from "@electric-sql/pglite";
import { type ChatMemoryStore, keyValueStore } from "@turnkeep/core";

/** Run once. A counter for the whole table, so that no key ever has the same revision twice. */
export const schema = `
  create sequence if not exists revisions;
  create table if not exists memories (
    id text collate "C" primary key, value text not null, revision bigint not null default nextval('revisions')
  )`;

/** A store over one table: each memory is a value, swapped only if nobody else has swapped it. */
export function myStore(database: PGlite, options: { ttlMs?: number | undefined } = {}): ChatMemoryStore {
  const rows = async <T>(sql: string, ...given: unknown[]) => (await database.query<T>(sql, given)).rows;
  return keyValueStore<string>({
    ...options,
    shared: true,
    durable: true,
    // PGlite drops a byte order mark at the start of a text.
    keys: "hex",
    async get(id) {
      const [row] = await rows<{ value: string; revision: string }>(
        "select value, revision::text as revision from memories where id = $1",
        id,
      );
      return row;
    },
    async compareAndSet(id, value, revision) {
      const insert = "insert into memories (id, value) values ($1, $2) on conflict do nothing returning 1";
      const update = `update memories set value = $2, revision = nextval('revisions')
        where id = $1 and revision = $3::text::bigint returning 1`;
      const done = revision === undefined ? rows(insert, id, value) : rows(update, id, value, revision);
      return (await done).length === 1;
    },
    async delete(id, revision) {
      const any = "delete from memories where id = $1 returning 1";
      const one = "delete from memories where id = $1 and revision = $2::text::bigint returning 1";
      return (await (revision === undefined ? rows(any, id) : rows(one, id, revision))).length === 1;
    },
    async list({ after = "", limit }) {
      const page = "select id from memories where id > $1 order by id limit $2";
      return (await rows<{ id: string }>(page, after, limit)).map(({ id }) => id);
    },
  });
}
