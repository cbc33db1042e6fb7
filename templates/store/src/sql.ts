import type { MessageState } from "@turnkeep/core";
import type { FoldedUpdate, NormalHistoryQuery, NormalListQuery } from "@turnkeep/core/store-kit";
import type { Identifiers } from "./migrations.ts";
import type { NormalOptions } from "./options.ts";
import type { HistoryRow, ListRow, LookRow, SnapshotRow } from "./records.ts";

/** One statement. A list travels as one JSON text, so that no update meets SQLite's limit of parameters. */
export interface Statement<Row> {
  readonly text: string;
  readonly values: (string | number | null)[];
  /** Never there: the type of the rows that it answers. */
  readonly row?: Row;
}

/** How many memories one transaction of `sweep` removes. */
export const sweepBatch = 100;

/** SQLite reads its machine's clock, in milliseconds; within one row of a statement it stands still. */
const now = "cast(round(unixepoch('now', 'subsec') * 1000) as integer)";
const present = `(h.expires_at is null or h.expires_at > ${now})`;
const columns = "m.seq, m.id, m.created_at as created, m.payload, m.meta";

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
  /** The key of the memory whose id is the next parameter. */
  readonly #key: string;

  constructor(names: Identifiers, { ttlMs, activityMs }: Pick<NormalOptions, "ttlMs" | "activityMs">) {
    this.#names = names;
    this.#ttlMs = ttlMs;
    this.#activityMs = activityMs;
    this.#key = `(select h.memory_key from ${names.memories} h where h.memory_id = ?)`;
  }

  /** No row: no such memory. One statement, so one snapshot. */
  read(memoryId: string): Statement<SnapshotRow> {
    const { memories, messages, live } = this.#names;
    const text = `
      with head as materialized (
        select h.* from ${memories} h where h.memory_id = ? and ${present})
      select null as seq, version, next_seq as next, owner, head,
        null as id, null as created, data as payload, null as meta
      from head
      union all
      select l.seq, null, null, null, null, m.id, m.created_at, m.payload, m.meta
      from head cross join ${live} l on l.memory_key = head.memory_key
      left join ${messages} m on m.memory_key = l.memory_key and m.seq = l.seq`;
    return { text, values: [memoryId] };
  }

  /** Version and next seq, with those of the named messages that are there; one that is lost has no id. */
  look(memoryId: string, seqs: readonly number[]): Statement<LookRow> {
    const { memories, messages, live } = this.#names;
    const text = `
      select h.version, h.next_seq as next, json_each.value as seq, m.id,
        case when l.seq is null then m.state else 'live' end as state
      from ${memories} h
      left join json_each(?)
      left join ${messages} m on m.memory_key = h.memory_key and m.seq = json_each.value
      left join ${live} l on l.memory_key = h.memory_key and l.seq = json_each.value
      where h.memory_id = ? and ${present}`;
    return { text, values: [JSON.stringify(seqs), memoryId] };
  }

  /** Begins a memory, over an expired one too. Only within a transaction that has looked. */
  begin(memoryId: string, update: FoldedUpdate): Statement<never>[] {
    const { version, nextSeq, owner, head, data, insert } = update;
    const text = `
      insert into ${this.#names.memories}
        (memory_id, owner, version, next_seq, head, data, updated_at, active_at, expires_at)
      values (?, ?, ?, ?, ?, ?, ${now}, ${now}, ${now} + ?)`;
    const texts = [memoryId, owner ?? null, version, nextSeq, head ?? null, data ?? null];
    const values = [...texts, this.#livesFor(update)];
    return [
      ...this.remove(memoryId),
      { text, values },
      ...this.#written(memoryId, insert),
      ...this.#nowLive(memoryId, insert),
    ];
  }

  /** Changes a memory. Only within a transaction that has looked. */
  change(memoryId: string, update: FoldedUpdate): Statement<never>[] {
    const { memories, messages } = this.#names;
    const { version, nextSeq, owner, head, data, insert, rewrite, setState, remove } = update;
    const named = `memory_key = ${this.#key} and seq in (select value from json_each(?))`;
    const states = [...new Set(setState.map(({ state }) => state))];
    // Of what is not named, no column is set: to SQLite one is changed whenever a statement sets it, and so is its index.
    const changed = Object.entries({ owner, head, data }).flatMap(([column, value]) =>
      value === undefined ? [] : [{ column, value }],
    );
    return [
      {
        text: `
          update ${memories} set version = ?, next_seq = ?, updated_at = ${now}, expires_at = ${now} + ?
            ${changed.map(({ column }) => `, ${column} = ?`).join("")}
          where memory_id = ?`,
        values: [version, nextSeq, this.#livesFor(update), ...changed.map(({ value }) => value), memoryId],
      },
      {
        text: `update ${memories} set active_at = ${now} where memory_id = ? and active_at + ? <= ${now}`,
        values: [memoryId, this.#activityMs],
      },
      ...this.#written(memoryId, [...insert, ...rewrite]),
      ...states.map((state) => {
        const seqs = setState.filter((row) => row.state === state).map(({ seq }) => seq);
        const text = `update ${messages} set state = ? where ${named}`;
        return { text, values: [state, memoryId, JSON.stringify(seqs)] };
      }),
      ...(remove.length === 0
        ? []
        : [{ text: `delete from ${messages} where ${named}`, values: [memoryId, JSON.stringify(remove)] }]),
      ...this.#noLonger(memoryId, [...setState, ...rewrite].map(({ seq }) => seq).concat(remove)),
      ...this.#nowLive(memoryId, [...insert, ...rewrite, ...setState]),
    ];
  }

  /** Deletes a memory, expired or not, with its messages. Only within a transaction. */
  remove(memoryId: string): Statement<never>[] {
    const { memories, messages, live } = this.#names;
    return [
      { text: `delete from ${live} where memory_key = ${this.#key}`, values: [memoryId] },
      { text: `delete from ${messages} where memory_key = ${this.#key}`, values: [memoryId] },
      { text: `delete from ${memories} where memory_id = ?`, values: [memoryId] },
    ];
  }

  /** A row beyond the limit: there is more. */
  history(memoryId: string, query: NormalHistoryQuery): Statement<HistoryRow> {
    const { after, before, order, limit, states, ids } = query;
    const { memories, messages, live, idIndex } = this.#names;
    const within = "memory_key = (select memory_key from head) and seq > ? and seq < ?";
    // Which index is said here: the planner, which knows no numbers, might search all of the history for a few ids.
    const kept = `
      select m.state, ${columns}
      from ${messages} m ${ids === undefined ? "" : `indexed by ${idIndex}`}
      where ${within} and m.state in (select value from json_each(?))
        ${ids === undefined ? "" : "and m.id in (select value from json_each(?))"}`;
    // Their ids are lost too.
    const lost = `
      select 'live', l.seq, null, null, null, null
      from ${live} l
      where ${within} and not exists (select 1 from ${messages} m where m.memory_key = l.memory_key and m.seq = l.seq)`;
    const withLost = ids === undefined && states.includes("live");
    const text = `
      with head as materialized (select h.memory_key from ${memories} h where h.memory_id = ? and ${present})
      ${kept} ${withLost ? `union all ${lost}` : ""}
      order by seq ${order === "ascending" ? "asc" : "desc"} limit ?`;
    const wanted = ids === undefined ? [] : [JSON.stringify(ids)];
    const range = withLost ? [after, before] : [];
    return {
      text,
      values: [memoryId, after, before, JSON.stringify(states), ...wanted, ...range, limit + 1],
    };
  }

  /** In the order in which the memories began, or by the activity that was noted last. A row beyond the limit: there is more. */
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

  /** The keys of one batch of expired memories. */
  expired(): Statement<{ key: number }> {
    const { memories } = this.#names;
    const text = `select h.memory_key as key from ${memories} h where h.expires_at <= ${now} limit ${sweepBatch}`;
    return { text, values: [] };
  }

  /** Deletes memories by their keys. Only within a transaction. */
  sweep(keys: readonly number[]): Statement<never>[] {
    const { memories, messages, live } = this.#names;
    return [live, messages, memories].map((table) => ({
      text: `delete from ${table} where memory_key in (select value from json_each(?))`,
      values: [JSON.stringify(keys)],
    }));
  }

  /** How many milliseconds the memory lives from this update on; null: for ever. */
  #livesFor({ ttlMs = this.#ttlMs }: FoldedUpdate): number | null {
    return ttlMs ?? null;
  }

  /** New messages, or others in their place: also where the row of a live one is lost. */
  #written(memoryId: string, rows: FoldedUpdate["insert"]): Statement<never>[] {
    const text = `
      insert or replace into ${this.#names.messages} (memory_key, seq, id, state, created_at, payload, meta)
      values (${this.#key}, ?, ?, ?, ?, ?, ?)`;
    return rows.map(({ seq, id, state, createdAt, payload, meta }) => {
      return { text, values: [memoryId, seq, id, state, createdAt, payload, meta ?? null] };
    });
  }

  #noLonger(memoryId: string, seqs: readonly number[]): Statement<never>[] {
    if (seqs.length === 0) return [];
    const text = `
      delete from ${this.#names.live}
      where memory_key = ${this.#key} and seq in (select value from json_each(?))`;
    return [{ text, values: [memoryId, JSON.stringify(seqs)] }];
  }

  #nowLive(
    memoryId: string,
    rows: readonly { readonly seq: number; readonly state: MessageState }[],
  ): Statement<never>[] {
    const seqs = rows.filter(({ state }) => state === "live").map(({ seq }) => seq);
    if (seqs.length === 0) return [];
    const text = `
      insert into ${this.#names.live} (memory_key, seq) select ${this.#key}, value from json_each(?)`;
    return [{ text, values: [memoryId, JSON.stringify(seqs)] }];
  }
}
