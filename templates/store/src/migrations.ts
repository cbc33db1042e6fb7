import { laterVersionError, TurnkeepError } from "@turnkeep/core/store-kit";
import type { Run } from "./pool.ts";
import { storeName } from "./refusals.ts";
import { now, type Statement } from "./sql.ts";

/** The quoted names of what the store owns in a database. */
export interface Identifiers {
  readonly memories: string;
  readonly messages: string;
  readonly live: string;
  readonly migrations: string;
  /** The name of a foreign key, of which a database has each once. */
  readonly messagesKey: string;
  readonly liveKey: string;
}

/** The room that a prefix must leave in a name. */
export const longestSuffix: number = "messages_memory_fk".length;

export function identifiersOf(prefix: string): Identifiers {
  const own = (suffix: string): string => `\`${(prefix + suffix).replaceAll("`", "``")}\``;
  return {
    memories: own("memories"),
    messages: own("messages"),
    live: own("live"),
    migrations: own("migrations"),
    messagesKey: own("messages_memory_fk"),
    liveKey: own("live_memory_fk"),
  };
}

/** Of every text: compared by its bytes. `utf8mb4_bin` would do so too, but hold `a` and `a` with a blank behind it for the same. */
const table = "engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin";

/**
 * The steps in order; step 1 is the first. A step that was released never changes. MariaDB cannot undo a `create` or an
 * `alter`: a process that dies within a step leaves a part of it. So each statement can be run again, also by two
 * processes at once: `if not exists` stands in all of them, for columns and indexes too.
 */
export function migrationsOf(names: Identifiers): (readonly string[])[] {
  const { memories, messages, live, messagesKey, liveKey } = names;
  const ofMemory = `foreign key (memory_key) references ${memories} (memory_key) on delete cascade`;
  return [
    // The key stands for one life of a memory id, and is never used again: what belonged to an earlier life can never show
    // in a later one. Times are milliseconds since the epoch, which no time zone changes. Whatever deletes a memory deletes
    // its messages in the same statement, by their foreign keys.
    [
      `create table if not exists ${memories} (
        memory_key bigint not null auto_increment primary key,
        memory_id varchar(512) not null,
        owner varchar(512),
        version varchar(256) not null,
        next_seq bigint not null,
        head longtext,
        data longtext,
        updated_at bigint not null,
        active_at bigint not null,
        expires_at bigint,
        unique key memory_id (memory_id),
        key owner (owner, memory_key),
        key active (active_at, memory_key),
        key owner_active (owner, active_at, memory_key),
        key expiry (expires_at)
      ) ${table}`,
      `create table if not exists ${messages} (
        memory_key bigint not null,
        seq bigint not null,
        id varchar(256) not null,
        superseded boolean not null,
        created_at bigint not null,
        payload longtext not null,
        meta longtext,
        primary key (memory_key, seq),
        key id (memory_key, id),
        constraint ${messagesKey} ${ofMemory}
      ) ${table}`,
      // Which messages are live, apart from the messages: to evict one touches no message, and a row that somebody else
      // removes is missed.
      `create table if not exists ${live} (
        memory_key bigint not null,
        seq bigint not null,
        primary key (memory_key, seq),
        constraint ${liveKey} ${ofMemory}
      ) ${table}`,
    ],
  ];
}

/** Brings the tables up to date, step by step. Of several processes each may do a part, or all of them the same. */
export async function migrate(
  run: Run,
  { migrations }: Identifiers,
  steps: readonly (readonly string[])[],
): Promise<void> {
  const execute = (text: string): Promise<object[]> => run<object>({ text, values: [] });
  await checkServer(run);
  await execute(
    `create table if not exists ${migrations} (number int not null primary key, applied_at bigint not null) ${table}`,
  );
  const newest: Statement<{ number: number }> = {
    text: `select cast(coalesce(max(number), 0) as int) as number from ${migrations}`,
    values: [],
  };
  const applied = Number((await run(newest))[0]?.number);
  if (applied > steps.length) throw laterVersionError(storeName, "the tables", "this package");
  for (const [index, step] of steps.entries()) {
    if (index < applied) continue;
    for (const statement of step) await execute(statement);
    await execute(`insert ignore into ${migrations} (number, applied_at) values (${index + 1}, ${now})`);
  }
}

interface ServerRow {
  readonly version: string;
  readonly charset: string;
  readonly isolation: string;
  readonly autocommit: number | string;
  readonly deletes: number | string;
  readonly mode: string;
}

/** What cannot be right later is refused now, before a text is stored as something else. */
async function checkServer(run: Run): Promise<void> {
  const asked: Statement<ServerRow> = {
    text: `
      select version() as version, @@character_set_client as charset, @@tx_isolation as isolation,
        @@autocommit as autocommit, @@foreign_key_checks as deletes, @@sql_mode as mode`,
    values: [],
  };
  const unfit = unfitOf((await run(asked))[0]);
  if (unfit !== undefined) throw new TurnkeepError("STORE_NOT_READY", `${storeName}: ${unfit}`);
}

function unfitOf(server: ServerRow | undefined): string | undefined {
  if (server === undefined) return "the server does not say what it is";
  const { version, charset, isolation, autocommit, deletes, mode } = server;
  const [, major, minor] = /^(\d+)\.(\d+)\..*MariaDB/.exec(version) ?? [];
  if (!(Number(major) * 100 + Number(minor) >= 1006)) {
    return `it needs MariaDB 10.6 or later, and the server is ${version}`;
  }
  if (charset !== "utf8mb4") {
    return `the client's pool speaks ${charset}, which loses characters: create it with charset "utf8mb4", or leave that out`;
  }
  if (isolation === "READ-UNCOMMITTED") {
    return "the client's transactions read what others have not committed: set their isolation level to READ COMMITTED";
  }
  if (Number(autocommit) !== 1) {
    return "the client's connections commit nothing by themselves: leave autocommit on, since the store begins its transactions itself";
  }
  if (Number(deletes) !== 1) {
    return "the client's connections have no foreign_key_checks, by which messages are deleted with their memory: leave these on";
  }
  if (mode.includes("EMPTY_STRING_IS_NULL")) {
    return "the client's connections store an empty text as none: leave EMPTY_STRING_IS_NULL out of their sql_mode";
  }
  return undefined;
}
