import { errorCode, laterVersionError, type Refusals, refusalOf } from "@turnkeep/core/store-kit";
import { storeName } from "./refusals.ts";
import type { Statement } from "./sql.ts";

/** The quoted names of what the store owns in a database. */
export interface Identifiers {
  readonly schema: string;
  readonly memories: string;
  readonly messages: string;
  readonly migrations: string;
  /** The name of an index or a constraint, which is in its table's schema. */
  readonly own: (suffix: string) => string;
}

/** In bytes: the room that a table prefix must leave in an identifier. */
export const longestSuffix: number = "memories_owner_idx".length;

export function identifiersOf(schema: string, prefix: string): Identifiers {
  const own = (suffix: string): string => quoteIdentifier(prefix + suffix);
  const table = (suffix: string): string => `${quoteIdentifier(schema)}.${own(suffix)}`;
  return {
    schema: quoteIdentifier(schema),
    memories: table("memories"),
    messages: table("messages"),
    migrations: table("migrations"),
    own,
  };
}

/** The steps in order; step 1 is the first. A released step never changes. */
export function migrationsOf({ schema, memories, messages, own }: Identifiers): string[] {
  return [
    // The key identifies one life of a memory id, so what belonged to an earlier life can never show in a later one.
    // Texts compare by their bytes, whatever the database's collation. Only this table tells which messages are live,
    // as ranges of their seq. The free room in a page lets an append write the new head beside the old one without
    // touching an index.
    `create table ${memories} (
      memory_key bigint generated always as identity constraint ${own("memories_pkey")} primary key,
      memory_id text collate "C" not null constraint ${own("memories_id_key")} unique,
      owner text collate "C",
      version text collate "C" not null,
      next_seq bigint not null,
      head text,
      live int8multirange not null,
      updated_at timestamptz not null,
      expires_at timestamptz
    ) with (fillfactor = 80);
    create index ${own("memories_owner_idx")} on ${memories} (owner, memory_key) where owner is not null;
    create table ${messages} (
      memory_key bigint not null,
      seq bigint not null,
      id text collate "C" not null,
      superseded boolean not null,
      created_at bigint not null,
      payload text not null,
      meta text,
      constraint ${own("messages_pkey")} primary key (memory_key, seq)
    );
    create index ${own("messages_id_idx")} on ${messages} (memory_key, id);
    create function ${schema}.${own("delete_messages")}() returns trigger language plpgsql as ${quoteLiteral(`
      begin
        delete from ${messages} where memory_key = old.memory_key;
        return null;
      end`)};
    create trigger ${own("delete_messages")} after delete on ${memories}
      for each row execute function ${schema}.${own("delete_messages")}();`,
    // The trigger deleted as the caller, so row-level security could hide a memory's messages from it, and they stayed. A
    // foreign key deletes as the owner of the table, whom no policy restricts. Locked in the order in which writes lock,
    // since what follows would meet them the other way round. No row is looked at as long as writers wait.
    `lock table ${memories} in access exclusive mode;
    lock table ${messages} in share row exclusive mode;
    alter table ${messages} add constraint ${own("messages_memory_fk")}
      foreign key (memory_key) references ${memories} (memory_key) on delete cascade not valid;
    drop trigger ${own("delete_messages")} on ${memories};
    drop function ${schema}.${own("delete_messages")}();`,
    // What the trigger has left behind. Others read and write meanwhile. To a role from which policies hide memories, the
    // messages of these would seem to be left behind too.
    `if ${[memories, messages].map((table) => `row_security_active(${quoteLiteral(table)})`).join(" or ")} then
      raise exception 'policies restrict this role' using errcode = '${restricted}';
    end if;
    delete from ${messages} m where not exists (select from ${memories} h where h.memory_key = m.memory_key);
    alter table ${messages} validate constraint ${own("messages_memory_fk")};`,
    // When a sweep looks at a memory, which is no later than it expires; null: never. An index on the expiry itself would be
    // touched by each append, which prolongs it. Who does not know the column leaves it at a past that never was, so the next
    // sweep looks at what is there already, some at a time; no row is written here.
    `alter table ${memories} add column sweep_at timestamptz default '-infinity';`,
    // Others read meanwhile; who writes waits until each head has been looked at, about a second a million.
    `create index ${own("memories_sweep_idx")} on ${memories} (sweep_at, memory_key) where sweep_at is not null;`,
    // What the application says about a conversation; and its last activity, as coarsely as writes note it, since its indexes
    // are touched whenever it changes. No row is written here: what is there already counts as never active, until the next
    // write. One that is begun by who does not know the column is active as it begins.
    `alter table ${memories} add column data text, add column active_at timestamptz not null default '-infinity';
    alter table ${memories} alter column active_at set default statement_timestamp();`,
    `create index ${own("active_idx")} on ${memories} (active_at, memory_key);`,
    `create index ${own("owner_active_idx")} on ${memories} (owner, active_at, memory_key) where owner is not null;`,
  ];
}

const laterVersion = "TK001";
const wrongEncoding = "TK002";
const tooOld = "TK003";
const restricted = "TK004";
const partitioned = "TK005";

/** What keeps the tables from being brought up to date, by the whole SQLSTATE. */
const refusals: Refusals = {
  missing: [[new RegExp(`^${wrongEncoding}$`), "a database with the encoding UTF8"]],
  unfit: [
    // A table, an index, a constraint, a function or a schema of that name exists, and no migration of ours has made it.
    [
      /^(?:42P06|42P07|42710|42723)$/,
      "a name that migrate() needs is taken by something else (see the cause): give another prefix or schema, or rename what is there",
    ],
    // A server that only speaks Postgres's protocol lacks something of it: a feature, syntax, a type, a function.
    [
      new RegExp(`^(?:${tooOld}|0A000|42601|42704|42883)$`),
      "it needs Postgres 14 or later, with PL/pgSQL, multiranges and ctid (see the cause): upgrade the server, or use Postgres itself, not a database that only speaks its protocol",
    ],
    [
      new RegExp(`^${restricted}$`),
      "policies (row-level security) restrict this role, which must see all rows to bring the tables up to date: call migrate() as the tables' owner while none is forced on it (no force row level security), or as a superuser",
    ],
    [
      new RegExp(`^${partitioned}$`),
      "a table is in partitions that it cannot work with: only the messages may be, by their memory_key alone (see docs/postgres.md of the repository): put the rows into a table without partitions, or with such",
    ],
    [
      /^42501$/,
      "this role may not create the tables or read them (see the cause; since Postgres 15, only the owner of a database creates in schema public): grant it that, name another schema in the options, or call migrate() as a role that may",
    ],
  ],
};

/** In the form of `server_version_num`: the first Postgres with multiranges. */
const oldestServer = 140_000;

/**
 * Each brings the tables a step further, if they are not there yet: one statement, and so one transaction on one connection,
 * also behind PgBouncer, which holds its locks no longer than the step takes. One lock lets one migration per schema run at a
 * time. At an isolation level that shows the others the state before they waited, the existing number of a step refuses
 * them like a serialization failure, so they are sent again. If everything is in place, they need no permission to
 * create. A server without `ctid`, which updates need, is refused here, and so are partitions across which a key is not unique, or
 * a memory's messages lie apart.
 */
export function migrateStatements(
  { schema, memories, messages, migrations, own }: Identifiers,
  steps: readonly string[],
  oldest: number = oldestServer,
): Statement<never>[] {
  return steps.map((step, index) => {
    const number = index + 1;
    const body = `
  begin
    if current_setting('server_version_num')::int < ${oldest} then
      raise exception 'the server is Postgres %', current_setting('server_version') using errcode = '${tooOld}';
    end if;
    if current_setting('server_encoding') <> 'UTF8' then
      raise exception 'the encoding is %', current_setting('server_encoding') using errcode = '${wrongEncoding}';
    end if;
    perform pg_advisory_xact_lock(hashtextextended(${quoteLiteral(`turnkeep ${schema}`)}, 0));
    if to_regnamespace(${quoteLiteral(schema)}) is null then
      create schema if not exists ${schema};
    end if;
    if to_regclass(${quoteLiteral(migrations)}) is null then
      create table ${migrations} (
        number integer constraint ${own("migrations_pkey")} primary key,
        applied_at timestamptz not null default statement_timestamp()
      );
    end if;
    perform ctid from ${migrations} limit 0;
    if exists (
      select from pg_partitioned_table p
      left join pg_attribute a on a.attrelid = p.partrelid and a.attnum::text = p.partattrs::text
      where p.partrelid = to_regclass(${quoteLiteral(memories)})
        or p.partrelid in (select relid from pg_partition_tree(to_regclass(${quoteLiteral(messages)})))
          and a.attname is distinct from 'memory_key') then
      raise exception 'a table is in other partitions' using errcode = '${partitioned}';
    end if;
    if exists (select from ${migrations} where number > ${steps.length}) then
      raise exception 'a later migration was applied' using errcode = '${laterVersion}';
    end if;
    if not exists (select from ${migrations} where number = ${number}) then
      insert into ${migrations} (number) values (${number}) on conflict do nothing;
      ${step}
    end if;
  end`;
    return { text: `do ${quoteLiteral(body)}`, values: [], recurs: false };
  });
}

/** Throws the error of a failed migration: its own refusals in Turnkeep's words, the rest unchanged. */
export function throwMigrationError(error: unknown): never {
  const cause = error instanceof Error ? error.cause : undefined;
  if (errorCode(cause) === laterVersion) {
    throw laterVersionError(storeName, "the tables", "@turnkeep/store-postgres", cause);
  }
  throw refusalOf(storeName, refusals, cause) ?? error;
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Does not depend on the session's `standard_conforming_strings`. */
function quoteLiteral(text: string): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
