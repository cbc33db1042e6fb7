import {
  type FoldedUpdate,
  type NormalHistoryQuery,
  type NormalListQuery,
  namedSeqs,
} from "@turnkeep/core/store-kit";
import type { SqliteValue } from "./drivers.ts";
import type { Identifiers } from "./migrations.ts";
import type { NormalOptions } from "./options.ts";
import { type HistoryRow, type ListRow, type LookRow, lostId, type SnapshotRow } from "./records.ts";

/** One statement. A list is one JSON text, so its text is one of a few, and no limit of parameters is met. */
export interface Statement<Row> {
  readonly text: string;
  readonly values: readonly SqliteValue[];
  /** Never set: the type of the rows that it returns. */
  readonly row?: Row;
}

/** How many memories one statement of `sweep` removes. */
export const sweepBatch = 100;

/** The machine's clock, in milliseconds; within a statement it stands still. */
const now = "cast(round(unixepoch('now', 'subsec') * 1000) as integer)";
const present = `(h.expires_at is null or h.expires_at > ${now})`;
const columns = "m.id, m.created_at as created, m.payload, m.meta";
/** Of a message `m` with its entry `l` among those that are live, if it has one. */
const state =
  "case when l.seq is not null then 'live' when m.superseded then 'superseded' else 'evicted' end";
const inList = "in (select value from json_each(?))";

/** How a listing is ordered: a position as a text of numbers, which memories stand behind one, and the one before all. */
const orderings = {
  stored: {
    position: "cast(h.memory_key as text)",
    behind: "h.memory_key > ?",
    by: "h.memory_key",
    start: "0",
  },
  newest: {
    position: "h.active_at || ' ' || h.memory_key",
    behind: "(h.active_at, h.memory_key) < (?, ?)",
    by: "h.active_at desc, h.memory_key desc",
    start: `${Number.MAX_SAFE_INTEGER} 0`,
  },
} as const;

/** The statements of the contract's methods. */
export class Statements {
  readonly #names: Identifiers;
  readonly #ttlMs: number | undefined;
  readonly #activityMs: number;

  constructor(names: Identifiers, { ttlMs, activityMs }: Pick<NormalOptions, "ttlMs" | "activityMs">) {
    this.#names = names;
    this.#ttlMs = ttlMs;
    this.#activityMs = activityMs;
  }

  /** No row: no such memory. Only the head: no live messages, or the memory is at the known version. */
  read(memoryId: string, known: string | undefined): Statement<SnapshotRow> {
    const { memories, messages, live } = this.#names;
    const text = `
      with head as materialized (
        select h.* from ${memories} h where h.memory_id = ? and ${present})
      select null as seq, version, next_seq as next, owner, head,
        null as id, null as created, data as payload, null as meta
      from head
      union all
      select l.seq, null, null, null, null, ${columns}
      from head cross join ${live} l on l.memory_key = head.memory_key
      left join ${messages} m on m.memory_key = l.memory_key and m.seq = l.seq
      where head.version is not ?`;
    return { text, values: [memoryId, known ?? null] };
  }

  /**
   * Applies an update if the memory is at the expected version and agrees with it, and answers, by the last statement, what
   * it then holds. Of those before, the one that writes the head answers a row. Where it changes nothing, nor do those after
   * it: they look for the new version. Sent twice, they write what is there already.
   */
  update(memoryId: string, update: FoldedUpdate): [...Statement<never>[], Statement<LookRow>] {
    const named = namedSeqs(update);
    const look = this.look(memoryId, named);
    if (update.expected !== null) {
      return [this.#head(memoryId, update), ...this.#rows(memoryId, update), look];
    }
    // What names messages of a memory that is to begin contradicts itself.
    if (named.length > 0) return [look];
    return [...this.#begin(memoryId, update), ...this.#rows(memoryId, update), look];
  }

  /** The version and next seq, with those of the named messages that exist, or are live without a row. */
  look(memoryId: string, seqs: readonly number[]): Statement<LookRow> {
    const { memories, messages, live } = this.#names;
    const text = `
      select h.version, h.next_seq as next, n.value as seq, m.id,
        case when l.seq is not null or m.id is not null then ${state} end as state
      from ${memories} h
      left join json_each(?) n
      left join ${messages} m on m.memory_key = h.memory_key and m.seq = n.value
      left join ${live} l on l.memory_key = h.memory_key and l.seq = n.value
      where h.memory_id = ? and ${present}`;
    return { text, values: [JSON.stringify(seqs), memoryId] };
  }

  /** Deletes a memory, expired or not, with its messages; with `expected` only at that version. */
  remove(memoryId: string, expected: string | undefined): Statement<never> {
    const { memories } = this.#names;
    const text = `delete from ${memories} where memory_id = ?`;
    if (expected === undefined) return { text, values: [memoryId] };
    return { text: `${text} and version = ?`, values: [memoryId, expected] };
  }

  /** One row more than the limit means that there are more. */
  history(memoryId: string, query: NormalHistoryQuery): Statement<HistoryRow> {
    const { after, before, order, limit, states, ids } = query;
    const { memories, messages, live, own } = this.#names;
    const within = (table: string): string =>
      `${table}.memory_key = (select memory_key from head) and ${table}.seq > ? and ${table}.seq < ?`;
    const onlyLive = ids === undefined && states.join() === "live";
    // Which index is said here: the planner, which knows no numbers, might search all of the history for a few ids.
    const index = ids === undefined ? "" : `indexed by ${own("messages_id_idx")}`;
    const kept = onlyLive
      ? `from ${live} l cross join ${messages} m on m.memory_key = l.memory_key and m.seq = l.seq
         where ${within("l")}`
      : `from ${messages} m ${index}
         left join ${live} l on l.memory_key = m.memory_key and l.seq = m.seq
         where ${within("m")} and ${state} ${inList} ${ids === undefined ? "" : `and m.id ${inList}`}`;
    const lost = `
      select 'live', l.seq, null, null, null, null from ${live} l
      where ${within("l")}
        and not exists (select 1 from ${messages} m where m.memory_key = l.memory_key and m.seq = l.seq)
        ${ids === undefined ? "" : `and '${lostId}' || l.seq ${inList}`}`;
    const withLost = states.includes("live") && (ids?.some((id) => id.startsWith(lostId)) ?? true);
    const text = `
      with head as materialized (select h.memory_key from ${memories} h where h.memory_id = ? and ${present})
      select ${state} as state, ${onlyLive ? "l" : "m"}.seq as seq, ${columns} ${kept} ${withLost ? `union all ${lost}` : ""}
      order by seq ${order === "ascending" ? "asc" : "desc"} limit ?`;
    const wanted = ids === undefined ? [] : [JSON.stringify(ids)];
    const ofKept = onlyLive ? [] : [JSON.stringify(states), ...wanted];
    const ofLost = withLost ? [after, before, ...wanted] : [];
    return { text, values: [memoryId, after, before, ...ofKept, ...ofLost, limit + 1] };
  }

  /**
   * In the order in which the memories began, or by the activity that was noted last. One row beyond the limit: there are
   * more.
   */
  list({ owner, order, after, limit }: NormalListQuery): Statement<ListRow> {
    const { position, behind, by, start } = orderings[order];
    const text = `
      select ${position} as position, h.memory_id as id, h.owner, h.updated_at as updated, h.data
      from ${this.#names.memories} h
      where ${behind} and ${present} ${owner === undefined ? "" : "and h.owner = ?"}
      order by ${by} limit ?`;
    const place = (after ?? start).split(" ").map(Number);
    return { text, values: [...place, ...(owner === undefined ? [] : [owner]), limit + 1] };
  }

  /** Removes one batch of expired memories; a row for each. */
  sweep(): Statement<unknown> {
    const { memories } = this.#names;
    const text = `
      delete from ${memories} where memory_key in (
        select h.memory_key from ${memories} h where h.expires_at <= ${now} limit ${sweepBatch})
      returning memory_key`;
    return { text, values: [] };
  }

  /** A new head, also in place of an expired one; none if the memory is there. */
  #begin(memoryId: string, update: FoldedUpdate): Statement<never>[] {
    const { version, nextSeq, owner, head, data } = update;
    const { memories } = this.#names;
    const text = `
      insert into ${memories}
        (memory_id, owner, version, next_seq, head, data, updated_at, active_at, activity_ms, expires_at)
      values (?, ?, ?, ?, ?, ?, ${now}, ${now}, ?, ${now} + ?) on conflict (memory_id) do nothing returning version`;
    const texts = [memoryId, owner ?? null, version, nextSeq, head ?? null, data ?? null];
    return [
      { text: `delete from ${memories} as h where h.memory_id = ? and not ${present}`, values: [memoryId] },
      { text, values: [...texts, this.#activityMs, this.#livesFor(update)] },
    ];
  }

  /** The change of the head, if the memory is at the expected version and agrees with the update. */
  #head(memoryId: string, update: FoldedUpdate): Statement<never> {
    const { memories, messages, live } = this.#names;
    const { expected, version, nextSeq, owner, head, data, first, replaced, moved } = update;
    // By seq: the id that a live message must have, or none for one that must only exist; and those that must be evicted.
    const corrected = replaced.filter(({ was }) => was !== undefined);
    const named = Object.fromEntries([
      ...moved.map(({ seq }) => [seq, ""]),
      ...replaced.filter(({ was }) => was === undefined).map(({ seq, id }) => [seq, id]),
    ]);
    // Of what is not named, no column is set: an owner's index would be written each time.
    const changed = Object.entries({ owner, data }).flatMap(([column, value]) =>
      value === undefined ? [] : [{ column, value }],
    );
    const rowsNamed = `
        select 1 from json_each(?) n
        left join ${live} l on l.memory_key = h.memory_key and l.seq = cast(n.key as integer)
        left join ${messages} m on m.memory_key = h.memory_key and m.seq = cast(n.key as integer)`;
    const areEvicted = ` and not exists (${rowsNamed}
        where l.seq is not null or m.superseded or n.value is not m.id)`;
    const text = `
      update ${memories} as h
      set version = ?, next_seq = ?, head = coalesce(?, head), updated_at = ${now}, activity_ms = ?,
        expires_at = ${now} + ?${changed.map(({ column }) => `, ${column} = ?`).join("")}
      where h.memory_id = ? and h.version = ? and ${present} and h.next_seq <= ? and not exists (${rowsNamed}
        where coalesce(l.seq, m.seq) is null
          or n.value <> '' and (l.seq is null or n.value <> coalesce(m.id, '${lostId}' || l.seq)))${corrected.length === 0 ? "" : areEvicted}
      returning version`;
    const values = [version, nextSeq, head ?? null, this.#activityMs, this.#livesFor(update)];
    values.push(...changed.map(({ value }) => value), memoryId, expected, first, JSON.stringify(named));
    if (corrected.length > 0)
      values.push(JSON.stringify(Object.fromEntries(corrected.map(({ seq, id }) => [seq, id]))));
    return { text, values };
  }

  /** How many milliseconds the memory lives from this update on; null: for ever. */
  #livesFor({ ttlMs = this.#ttlMs }: FoldedUpdate): number | null {
    return ttlMs ?? null;
  }

  /** What becomes of the messages of a memory that is at the update's own version. */
  #rows(memoryId: string, update: FoldedUpdate): Statement<never>[] {
    const { memories, messages, live } = this.#names;
    const { version, insert, replaced, moved } = update;
    const ofMemory = "h.memory_id = ? and h.version = ?";
    const key = `(select h.memory_key from ${memories} h where ${ofMemory})`;
    const named = `memory_key = ${key} and seq ${inList}`;
    const put = [...insert, ...replaced.filter(({ state }) => state !== "removed")];
    const removed = [...replaced, ...moved].filter(({ state }) => state === "removed");
    const superseded = moved.filter(({ state }) => state === "superseded");
    const others = moved.filter(({ state }) => state === "live" || state === "evicted");
    const wereLive = replaced.filter(({ was }) => was === undefined);
    const leaving = [...wereLive, ...moved].filter(({ state }) => state !== "live");
    const coming = [...insert, ...replaced, ...moved].filter(({ state }) => state === "live");
    const written = `
      insert or replace into ${messages} (memory_key, seq, id, superseded, created_at, payload, meta)
      select h.memory_key, ?, ?, ?, ?, ?, ? from ${memories} h where ${ofMemory}`;
    const mark = (to: 0 | 1): string =>
      `update ${messages} set superseded = ${to} where ${named} and superseded <> ${to}`;
    const lists: [text: string, rows: readonly { readonly seq: number }[]][] = [
      [mark(1), superseded],
      [mark(0), others],
      [`delete from ${messages} where ${named}`, removed],
      [`delete from ${live} where ${named}`, leaving],
      [
        `insert or ignore into ${live} (memory_key, seq)
         select h.memory_key, n.value from (select * from ${memories} h where ${ofMemory}) h cross join json_each(?) n`,
        coming,
      ],
    ];
    return [
      ...put.map(({ seq, id, state, createdAt, payload, meta }) => ({
        text: written,
        values: [
          seq,
          id,
          Number(state === "superseded"),
          createdAt,
          payload,
          meta ?? null,
          memoryId,
          version,
        ],
      })),
      ...lists
        .filter(([, rows]) => rows.length > 0)
        .map(([text, rows]) => ({
          text,
          values: [memoryId, version, JSON.stringify(rows.map(({ seq }) => seq))],
        })),
    ];
  }
}
