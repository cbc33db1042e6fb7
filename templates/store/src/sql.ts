import type { FoldedUpdate, NormalHistoryQuery, NormalListQuery, StoredRows } from "@turnkeep/core/store-kit";
import type { Identifiers } from "./migrations.ts";
import type { NormalOptions } from "./options.ts";
import { batchesOf, type MessageRow, numbers, rowValues, texts } from "./parameters.ts";
import { type HistoryRow, type ListRow, type LookRow, lostSeqs, type SnapshotRow } from "./records.ts";

/**
 * One statement. Every connection keeps the text prepared, in the driver and in the server, so there are some thirty of
 * them whatever is sent: a list travels as one JSON text, and many rows in batches of few sizes. Values are texts or null:
 * the driver would send a number as a floating one, which a `limit` refuses.
 */
export interface Statement<Row> {
  readonly text: string;
  readonly values: (string | null)[];
  /** Never there: the type of the rows that it answers. */
  readonly row?: Row;
}

/** How many memories one statement of `sweep` removes. */
export const sweepBatch = 100;

/**
 * The database's clock in milliseconds, the same within one statement. Not `unix_timestamp(now(3))`: that goes by the
 * session's time zone, in which an hour of autumn comes twice.
 */
export const now: string = "timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000";
const present = `(h.expires_at is null or h.expires_at > ${now})`;
const columns = "m.id, m.created_at as created, m.payload, m.meta";
const stateOf =
  "case when l.seq is not null then 'live' when m.superseded then 'superseded' when m.seq is not null then 'evicted' end";

/**
 * How a listing is ordered: a position as a text of numbers, which memories stand behind one, the numbers of that in the
 * order of its parameters, and the position before all. A pair is compared number by number: no index serves `(a, b) < (?, ?)`.
 * The index is named, since the optimizer might look at whatever may have expired, and sort.
 */
const orderings = {
  stored: {
    position: "cast(h.memory_key as char)",
    behind: "h.memory_key > ?",
    values: ([key]: readonly string[]) => [key],
    by: "h.memory_key",
    start: "0",
    index: { all: "primary", owner: "owner" },
  },
  newest: {
    position: "concat(h.active_at, ' ', h.memory_key)",
    behind: "h.active_at <= ? and (h.active_at < ? or h.memory_key < ?)",
    values: ([at, key]: readonly string[]) => [at, at, key],
    by: "h.active_at desc, h.memory_key desc",
    start: `${Number.MAX_SAFE_INTEGER} 0`,
    index: { all: "active", owner: "owner_active" },
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

  /** No row: no such memory. One statement, so one snapshot. Only the head, if the memory is at the known version. */
  read(memoryId: string, known: string | undefined): Statement<SnapshotRow> {
    const { memories, messages, live } = this.#names;
    const text = `
      select null as seq, h.version, h.next_seq as next, h.owner, h.head,
        null as id, null as created, h.data as payload, null as meta
      from ${memories} h where h.memory_id = ? and ${present}
      union all
      select l.seq, null, null, null, null, ${columns}
      from ${memories} h join ${live} l on l.memory_key = h.memory_key
      left join ${messages} m on m.memory_key = l.memory_key and m.seq = l.seq
      where h.memory_id = ? and ${present} and not (h.version <=> ?)`;
    return { text, values: [memoryId, memoryId, known ?? null] };
  }

  /**
   * Locks a memory, expired or not, for the rest of the transaction: whoever else writes to it waits here, and sees what
   * came before. With those of the named messages that are there; one that is lost has no id.
   */
  look(memoryId: string, seqs: readonly number[]): Statement<LookRow> {
    const { memories, messages, live } = this.#names;
    const text = `
      select h.memory_key as \`key\`, h.version, h.next_seq as next, ${present} as present,
        n.seq, m.id, ${stateOf} as state
      from ${memories} h
      left join ${numbers} on true
      left join ${messages} m on m.memory_key = h.memory_key and m.seq = n.seq
      left join ${live} l on l.memory_key = h.memory_key and l.seq = n.seq
      where h.memory_id = ? for update`;
    return { text, values: [JSON.stringify(seqs), memoryId] };
  }

  /** Begins a memory, and answers its key. Refused if somebody else begins it at the same time. */
  begin(memoryId: string, update: FoldedUpdate): Statement<{ key: number | string }> {
    const { version, nextSeq, owner, head, data } = update;
    const text = `
      insert into ${this.#names.memories}
        (memory_id, owner, version, next_seq, head, data, updated_at, active_at, expires_at)
      values (?, ?, ?, ?, ?, ?, ${now}, ${now}, ${now} + ?) returning memory_key as \`key\``;
    const texts = [memoryId, owner ?? null, version, `${nextSeq}`, head ?? null, data ?? null];
    return { text, values: [...texts, this.#livesFor(update)] };
  }

  /** The messages of a memory that has just begun. */
  beginMessages(key: string, { insert }: FoldedUpdate): Statement<never>[] {
    return [...this.#insert(key, insert), ...this.#nowLive(key, insert)];
  }

  /** Changes a memory that is locked, and agrees with the update. */
  change(key: string, update: FoldedUpdate, stored: StoredRows): Statement<never>[] {
    const { insert, replaced, moved } = update;
    const changed = [...replaced, ...moved];
    const rewritten = replaced.filter((row) => row.state !== "removed");
    const superseded = moved.filter(({ state }) => state === "superseded");
    const others = moved.filter(({ state }) => state === "live" || state === "evicted");
    const wereSuperseded = others.filter(({ seq }) => stored.find(seq)?.state === "superseded");
    const removed = changed.filter(({ state }) => state === "removed");
    const leaving = changed.filter(({ state }) => state !== "live");
    return [
      this.#changeHead(key, update),
      ...this.#insert(key, insert),
      ...rewritten.map((row) => this.#rewritten(key, row)),
      ...this.#supersede(key, true, superseded),
      ...this.#supersede(key, false, wereSuperseded),
      ...this.#deleteIn(this.#names.messages, key, removed),
      ...this.#deleteIn(this.#names.live, key, leaving),
      ...this.#nowLive(key, [...insert, ...changed]),
    ];
  }

  /** Deletes a memory that is locked, with its messages. */
  removeKey(key: string): Statement<never> {
    return { text: `delete from ${this.#names.memories} where memory_key = ?`, values: [key] };
  }

  /** Deletes a memory, expired or not, with its messages. */
  remove(memoryId: string): Statement<never> {
    return { text: `delete from ${this.#names.memories} where memory_id = ?`, values: [memoryId] };
  }

  /** A row beyond the limit: there is more. */
  history(memoryId: string, query: NormalHistoryQuery): Statement<HistoryRow> {
    if (query.ids !== undefined) return this.#historyOf(query.ids, memoryId, query);
    const { after, before, order, states } = query;
    const { messages, live } = this.#names;
    const limit = `${query.limit + 1}`;
    const range = [memoryId, `${after}`, `${before}`];
    const by = order === "ascending" ? "order by seq asc limit ?" : "order by seq desc limit ?";
    // Both come in the order of their primary keys, as far as the page goes; a `not exists` would be answered by all that is
    // live in any memory. Of a live message that is lost, the place is left.
    const ofLive = `(
      select 'live' as state, l.seq, ${columns}
      from ${live} l left join ${messages} m on m.memory_key = l.memory_key and m.seq = l.seq
      where ${this.#within("l")} ${by})`;
    const ofOthers = `(
      select if(m.superseded, 'superseded', 'evicted') as state, m.seq, ${columns}
      from ${messages} m left join ${live} l on l.memory_key = m.memory_key and l.seq = m.seq
      where ${this.#within("m")} and m.superseded in (?, ?) and l.seq is null ${by})`;
    const wanted = [states.includes("evicted") ? "0" : null, states.includes("superseded") ? "1" : null];
    const others = [...range, ...wanted, limit];
    if (!states.includes("live")) return { text: ofOthers, values: others };
    if (states.length === 1) return { text: ofLive, values: [...range, limit] };
    return { text: `${ofLive} union all ${ofOthers} ${by}`, values: [...range, limit, ...others, limit] };
  }

  /**
   * Looked up one by one: the optimizer, which knows little of a list that is sent, might search all of the history. A live
   * message that is lost is asked for by the id that stands in for it.
   */
  #historyOf(
    ids: readonly string[],
    memoryId: string,
    { after, before, order, limit, states }: NormalHistoryQuery,
  ): Statement<HistoryRow> {
    const { messages, live } = this.#names;
    const kept = `
      select ${stateOf} as state, m.seq, ${columns}
      from ${texts} straight_join ${messages} m force index (id) on m.id = n.id
      left join ${live} l on l.memory_key = m.memory_key and l.seq = m.seq
      where ${this.#within("m")} and ${stateOf} in (?, ?, ?)`;
    const lost = `
      select 'live', l.seq, ${columns}
      from ${numbers} straight_join ${live} l on l.seq = n.seq
      left join ${messages} m on m.memory_key = l.memory_key and m.seq = l.seq
      where ${this.#within("l")} and m.seq is null`;
    const by = `order by seq ${order === "ascending" ? "asc" : "desc"} limit ?`;
    const range = [memoryId, `${after}`, `${before}`];
    const wanted = [states[0] ?? null, states[1] ?? null, states[2] ?? null];
    const ofKept = [JSON.stringify(ids), ...range, ...wanted];
    const seqs = states.includes("live") ? lostSeqs(ids) : [];
    if (seqs.length === 0) return { text: `${kept} ${by}`, values: [...ofKept, `${limit + 1}`] };
    const ofLost = [JSON.stringify(seqs), ...range];
    return { text: `${kept} union all ${lost} ${by}`, values: [...ofKept, ...ofLost, `${limit + 1}`] };
  }

  /** The rows of that table that belong to a memory which is present, between two places. */
  #within(table: "l" | "m"): string {
    const key = `(select h.memory_key from ${this.#names.memories} h where h.memory_id = ? and ${present})`;
    return `${table}.memory_key = ${key} and ${table}.seq > ? and ${table}.seq < ?`;
  }

  /** In the order in which the memories began, or by the activity that was noted last. A row beyond the limit: there is more. */
  list({ owner, order, after, limit }: NormalListQuery): Statement<ListRow> {
    const { position, behind, values, by, start, index } = orderings[order];
    const text = `
      select ${position} as position, h.memory_id as id, h.owner, h.updated_at as updated, h.data
      from ${this.#names.memories} h force index (${owner === undefined ? index.all : index.owner})
      where ${behind} and ${present} ${owner === undefined ? "" : "and h.owner = ?"}
      order by ${by} limit ?`;
    const place = values((after ?? start).split(" ")).map(String);
    return { text, values: [...place, ...(owner === undefined ? [] : [owner]), `${limit + 1}`] };
  }

  /**
   * Deletes one batch of memories that have expired, with their messages, and answers a row for each. It waits for whoever
   * writes to one, and judges it again then.
   */
  sweep(): Statement<object> {
    const text = `
      delete from ${this.#names.memories}
      where expires_at <= ${now} order by expires_at limit ${sweepBatch} returning memory_key`;
    return { text, values: [] };
  }

  /** How many milliseconds the memory lives from this update on; null: for ever. */
  #livesFor({ ttlMs = this.#ttlMs }: FoldedUpdate): string | null {
    return ttlMs?.toString() ?? null;
  }

  /** What is set to what it was touches no index. */
  #changeHead(key: string, update: FoldedUpdate): Statement<never> {
    const { version, nextSeq, owner, head, data } = update;
    const text = `
      update ${this.#names.memories}
      set version = ?, next_seq = ?, owner = coalesce(?, owner), head = coalesce(?, head), data = coalesce(?, data),
        updated_at = ${now}, active_at = if(active_at + ? <= ${now}, ${now}, active_at), expires_at = ${now} + ?
      where memory_key = ?`;
    const texts = [version, `${nextSeq}`, owner ?? null, head ?? null, data ?? null];
    return { text, values: [...texts, `${this.#activityMs}`, this.#livesFor(update), key] };
  }

  #insert(key: string, rows: readonly MessageRow[]): Statement<never>[] {
    return batchesOf(rows).map((batch) => ({
      text: `${this.#into()} values ${batch.map(() => "(?, ?, ?, ?, ?, ?, ?)").join()}`,
      values: batch.flatMap((row) => rowValues(key, row)),
    }));
  }

  /** A message in the place of another, or of one that is lost. */
  #rewritten(key: string, row: MessageRow): Statement<never> {
    const set = ["superseded", "created_at", "payload", "meta"].map((name) => `${name} = values(${name})`);
    return {
      text: `${this.#into()} values (?, ?, ?, ?, ?, ?, ?) on duplicate key update ${set.join()}`,
      values: rowValues(key, row),
    };
  }

  #into(): string {
    return `insert into ${this.#names.messages} (memory_key, seq, id, superseded, created_at, payload, meta)`;
  }

  #supersede(key: string, to: boolean, rows: FoldedUpdate["moved"]): Statement<never>[] {
    if (rows.length === 0) return [];
    const text = `
      update ${numbers} straight_join ${this.#names.messages} m on m.memory_key = ? and m.seq = n.seq
      set m.superseded = ?`;
    return [{ text, values: [JSON.stringify(rows.map(({ seq }) => seq)), key, to ? "1" : "0"] }];
  }

  #deleteIn(table: string, key: string, rows: FoldedUpdate["moved"]): Statement<never>[] {
    if (rows.length === 0) return [];
    const text = `delete t from ${numbers} straight_join ${table} t on t.memory_key = ? and t.seq = n.seq`;
    return [{ text, values: [JSON.stringify(rows.map(({ seq }) => seq)), key] }];
  }

  #nowLive(key: string, rows: FoldedUpdate["moved"]): Statement<never>[] {
    const seqs = rows.filter(({ state }) => state === "live").map(({ seq }) => seq);
    if (seqs.length === 0) return [];
    const text = `insert ignore into ${this.#names.live} (memory_key, seq) select ?, n.seq from ${numbers}`;
    return [{ text, values: [key, JSON.stringify(seqs)] }];
  }
}
