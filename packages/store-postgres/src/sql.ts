import type { MemoryUpdate, MessageState } from "@turnkeep/core";
import { type FoldedUpdate, isPlain, type NormalHistoryQuery, namedSeqs } from "@turnkeep/core/store-kit";
import type { Names } from "./migrations.ts";
import { type GivenRow, Parameters } from "./parameters.ts";
import type { KeyedRow, ListRow, LookRow } from "./records.ts";

/** One statement. Parameters and columns are texts that it casts itself, so that no driver's type rules matter. */
export interface Statement<Row> {
  readonly text: string;
  readonly values: (string | null)[];
  /** Whether its text is one of a few, so that a connection may keep it parsed and planned. */
  readonly recurs: boolean;
  /** Never set: the type of the rows that it returns. */
  readonly row?: Row;
}

export interface SweepRow {
  readonly removed: string;
  /** The last key of a full batch, after which there may be more. */
  readonly last: string | null;
}

/** How many memories one statement of `sweep` removes. */
const sweepBatch = 100;

const now = "statement_timestamp()";
const present = `(h.expires_at is null or h.expires_at > ${now})`;

/**
 * A PGlite drops a byte order mark at the start of a column, and an id may begin with one. So columns that are not JSON
 * are returned behind a mark of ours, which the reader removes.
 */
const marked = (column: string, name: string): string => `'=' || ${column} as ${name}`;
const columns = "m.seq || ' ' || m.created_at || ' ' || m.id as key, m.payload, m.meta";

/** The state of a message `m`: the head says which are live; a row only says how a message left. */
const stateBy = (live: string): string =>
  `case when ${live} @> m.seq then 'live' when m.superseded then 'superseded' else 'evicted' end`;

/** The statements for the contract's methods. Each is its own transaction and needs no session. */
export class Statements {
  readonly #memories: string;
  readonly #messages: string;
  readonly #expiry: string;
  /** Recurring texts by what distinguishes them: an identical string is found faster by its name. */
  readonly #texts = new Map<string, string>();

  constructor({ memories, messages }: Names, ttlMs: number | undefined) {
    this.#memories = memories;
    this.#messages = messages;
    this.#expiry = ttlMs === undefined ? "null" : `${now} + ${ttlMs} * interval '1 millisecond'`;
  }

  /** No row: no such memory. Only the head: no live messages, or the memory is at the known version. */
  read(memoryId: string, known: string | undefined): Statement<KeyedRow> {
    const p = new Parameters();
    const text = `
      with head as materialized (
        select * from ${this.#memories} h where h.memory_id = ${p.text(memoryId)} and ${present})
      select '=' || h.next_seq || ' ' || h.version as key, h.head as payload, ${marked("h.owner", "meta")} from head h
      union all
      select ${columns} from head h ${this.#joinLive()} where h.version is distinct from ${p.text(known)}`;
    return this.#recurring("read", p, text);
  }

  /** One of these makes the update; the next is needed only if the one before changed nothing. */
  *update(memoryId: string, update: MemoryUpdate, folded: FoldedUpdate): Generator<Statement<unknown>> {
    if (update.expected === null && namedSeqs(folded).length === 0) {
      return yield this.#begin(memoryId, update, folded);
    }
    if (isPlain(folded)) yield this.#append(memoryId, update, folded);
    // An evicted message may exist without being live.
    yield this.#change(memoryId, update, folded);
  }

  /** Begins a memory, also in place of an expired one. */
  #begin(memoryId: string, update: MemoryUpdate, { insert }: FoldedUpdate): Statement<never> {
    const p = new Parameters();
    const id = p.text(memoryId);
    const { owner, version, nextSeq, head } = update;
    // The insert reads what the delete returns, so it runs after it.
    const expired = `expired as (delete from ${this.#memories} h where h.memory_id = ${id} and not ${present} returning 1)`;
    const begun = `
      insert into ${this.#memories} as h (memory_id, owner, version, next_seq, head, live, updated_at, expires_at)
      select ${id}, ${p.text(owner)}, ${p.text(version)}, ${p.integer(nextSeq)}, ${p.text(head)}, ${p.seqs(liveIn(insert))}, ${now}, ${this.#expiry}
      from (select count(*) from expired) as cleared
      on conflict (memory_id) do nothing`;
    const text =
      insert.length === 0
        ? `with ${expired} ${begun}`
        : `with ${expired}, head as (${begun} returning h.memory_key) ${this.#inserted(p, insert)}`;
    return isFew(insert) ? this.#recurring(`begin ${insert.length}`, p, text) : p.statement(text);
  }

  /**
   * Changes a memory at the expected version by new messages and evictions of live ones. A live message certainly
   * exists, so only the head and the new rows are touched.
   */
  #append(memoryId: string, update: MemoryUpdate, { insert, setState }: FoldedUpdate): Statement<never> {
    const p = new Parameters();
    const evicted = p.seqs(setState.map(({ seq }) => seq));
    const head = `${this.#headChange(p, memoryId, update, evicted, p.seqs(liveIn(insert)))} and h.live @> ${evicted}`;
    const text =
      insert.length === 0
        ? head
        : `with head as (${head} returning h.memory_key) ${this.#inserted(p, insert)}`;
    return isFew(insert) ? this.#recurring(`append ${insert.length}`, p, text) : p.statement(text);
  }

  /** Changes a memory that is at the expected version and agrees with the update. */
  #change(memoryId: string, update: MemoryUpdate, folded: FoldedUpdate): Statement<object> {
    const { insert, rewrite, setState, remove, replaced, moved } = folded;
    const p = new Parameters();
    const leaving = [...replaced, ...moved].filter(({ state }) => state !== "live").map(({ seq }) => seq);
    const coming = liveIn([...insert, ...moved]);
    const head = this.#headChange(p, memoryId, update, p.seqs(leaving), p.seqs(coming));
    const rows = replaced.length > 0 ? p.rows("r", [...replaced, ...moved]) : p.moves("r", moved);
    const agrees =
      replaced.length > 0
        ? `h.live @> ${p.seqs(replaced.map(({ seq }) => seq))}
          and not exists (select from c where c.place is null or c.id <> c.stored_id)`
        : "not exists (select from c where c.place is null)";
    const parts = [
      // `offset 0` makes it look up each row by its key: the planner might otherwise search the whole history for them.
      `c as materialized (
        select r.*, m.ctid as place, m.id as stored_id, m.superseded, r.state = 'superseded' as supersede
        from ${rows}
        left join lateral (
          select m.ctid, m.id, m.superseded from ${this.#messages} m
          where m.memory_key = (select h.memory_key from ${this.#memories} h where h.memory_id = ${p.text(memoryId)})
            and m.seq = r.seq
          offset 0) as m on true)`,
      `head as (${head} and ${agrees} returning h.memory_key)`,
    ];
    // A row's location is valid as long as the version is, which the head has just confirmed.
    if (rewrite.length + setState.length > 0) {
      const rewritten = `, created_at = coalesce(c.created_at, m.created_at),
          payload = coalesce(c.payload, m.payload), meta = case when c.id is null then m.meta else c.meta end`;
      parts.push(`changed as (
        update ${this.#messages} m set superseded = c.supersede${replaced.length > 0 ? rewritten : ""}
        from head, c where m.ctid = c.place and c.state <> 'removed'
          and (c.superseded <> c.supersede${replaced.length > 0 ? " or c.id is not null" : ""}))`);
    }
    if (remove.length > 0) {
      parts.push(`removed as (
        delete from ${this.#messages} m using head, c where m.ctid = c.place and c.state = 'removed')`);
    }
    const last = insert.length > 0 ? this.#inserted(p, insert) : "select 'done' as done from head";
    const recurs =
      isFew(insert) && (replaced.length === 0 ? moved.length <= 16 : replaced.length + moved.length === 1);
    return p.statement(`with ${parts.join(",")} ${last}`, recurs);
  }

  /** The version and next seq, with those of the named messages that exist. */
  look(memoryId: string, seqs: readonly number[]): Statement<LookRow> {
    const p = new Parameters();
    const head = this.#head(p, memoryId, p.seqs(seqs));
    return p.statement(`${head}
      select ${marked("h.version", "version")}, h.next_seq::text as next,
        m.seq::text as seq, ${marked("m.id", "id")}, ${stateBy("h.live")} as state
      from head h
      left join ${this.#messages} m on m.memory_key = h.memory_key and m.seq = any (${p.integers(seqs)})`);
  }

  remove(memoryId: string): Statement<never> {
    const p = new Parameters();
    return p.statement(`delete from ${this.#memories} where memory_id = ${p.text(memoryId)}`);
  }

  /** One row more than the limit means that there are more. */
  history(memoryId: string, query: NormalHistoryQuery): Statement<KeyedRow & { state: MessageState }> {
    const { after, before, order, limit, states, ids } = query;
    const p = new Parameters();
    const [from, to] = [p.integer(after), p.integer(before)];
    const between = `int8multirange(int8range(${from}, greatest(${from}, ${to}), '()'))`;
    const head = this.#head(p, memoryId, between);
    const inOrder = order === "ascending" ? "asc" : "desc";
    const page = `order by position ${inOrder} limit ${limit + 1}`;
    if (ids === undefined && states.join() === "live") {
      return p.statement(
        `${head} select m.seq as position, 'live' as state, ${columns} from head h ${this.#joinLive(inOrder, limit + 1)} ${page}`,
      );
    }
    const live = "(select h.live from head h)";
    const isIn = {
      live: `${live} @> m.seq`,
      superseded: "m.superseded",
      evicted: `not (m.superseded or ${live} @> m.seq)`,
    };
    const wanted = states.length === 3 ? "true" : states.map((state) => isIn[state]).join(" or ") || "false";
    // Subqueries and not a join, so that rows come in the order of the primary key and the limit ends the search.
    const matching = `
      select m.seq as position, ${stateBy(live)} as state, ${columns} from ${this.#messages} m
      where m.memory_key = (select h.memory_key from head h) and m.seq > ${from} and m.seq < ${to} and (${wanted})`;
    if (ids === undefined) return p.statement(`${head} ${matching} ${page}`);
    // `offset 0` makes it look up each id by its index: the planner might otherwise search the whole history for them.
    return p.statement(`${head} select found.* from unnest(${p.texts(ids)}) as wanted (id)
      cross join lateral (${matching} and m.id = wanted.id offset 0) as found ${page}`);
  }

  /** In the order in which the memories began, after that key. One row beyond the limit: there are more. */
  list(owner: string | undefined, after: string, limit: number): Statement<ListRow> {
    const p = new Parameters();
    return p.statement(`
      select h.memory_key::text as key, ${marked("h.memory_id", "id")}, ${marked("h.owner", "owner")},
        floor(extract(epoch from h.updated_at) * 1000)::bigint::text as updated
      from ${this.#memories} h
      where h.memory_key > ${p.integer(after)} and ${present}
        ${owner === undefined ? "" : `and h.owner = ${p.text(owner)}`}
      order by h.memory_key limit ${limit + 1}`);
  }

  /** Removes one batch of expired memories after that key. */
  sweep(after: string): Statement<SweepRow> {
    const p = new Parameters();
    return p.statement(`
      with batch as (
        select h.memory_key from ${this.#memories} h
        where h.memory_key > ${p.integer(after)} and not ${present}
        order by h.memory_key limit ${sweepBatch} for update skip locked),
      gone as (
        delete from ${this.#memories} h using batch where h.memory_key = batch.memory_key returning h.memory_key)
      select count(*)::text as removed,
        case when count(*) = ${sweepBatch} then max(memory_key)::text end as last
      from gone`);
  }

  /** The update of the head `h`, to which more conditions may be added. */
  #headChange(
    p: Parameters,
    memoryId: string,
    update: MemoryUpdate,
    leaving: string,
    coming: string,
  ): string {
    const { expected, version, nextSeq, head, append } = update;
    return `
      update ${this.#memories} h
      set version = ${p.text(version)}, next_seq = ${p.integer(nextSeq)},
        head = coalesce(${p.text(head)}, h.head), live = h.live - ${leaving} + ${coming},
        updated_at = ${now}, expires_at = ${this.#expiry}
      where h.memory_id = ${p.text(memoryId)} and h.version = ${p.text(expected)} and ${present}
        and h.next_seq <= ${p.integer(append[0]?.seq ?? nextSeq)}`;
  }

  /**
   * The head `h`, if it is present. Its live ranges are those within these ones, which makes them a value that is unpacked:
   * Postgres would unpack the stored one again for each row that is compared with it.
   */
  #head(p: Parameters, memoryId: string, within: string): string {
    return `
      with head as materialized (
        select h.memory_key, h.version, h.next_seq, h.live * ${within} as live
        from ${this.#memories} h where h.memory_id = ${p.text(memoryId)} and ${present})`;
  }

  /**
   * Joins the live messages `m` of the head `h`, range by range over the primary key: all of them, or for a page the first
   * of each of the first ranges, since no range is empty. The limits of all exclude nothing: they keep the planner from
   * other plans, and from an estimate so high that it compiles the statement.
   */
  #joinLive(order?: "asc" | "desc", limit?: number): string {
    const sorted = (by: string): string => (order === undefined ? "" : `order by ${by} ${order}`);
    const atMost = (count: string): string => (limit === undefined ? count : `least(${count}, ${limit})`);
    return `
      cross join lateral (
        select u.range from unnest(h.live) as u (range) ${sorted("u.range")} limit ${atMost("h.next_seq")}) as r
      cross join lateral (
        select * from ${this.#messages} m
        where m.memory_key = h.memory_key and m.seq >= lower(r.range) and m.seq < upper(r.range) ${sorted("m.seq")}
        limit ${atMost("upper(r.range) - lower(r.range)")}) as m`;
  }

  #inserted(p: Parameters, rows: FoldedUpdate["insert"]): string {
    return `
      insert into ${this.#messages} (memory_key, seq, id, superseded, created_at, payload, meta)
      select head.memory_key, r.seq, r.id, r.state = 'superseded', r.created_at, r.payload, r.meta from head, ${p.rows("r", rows)}`;
  }

  #recurring<Row>(name: string, p: Parameters, text: string): Statement<Row> {
    const known = this.#texts.get(name);
    if (known === undefined) this.#texts.set(name, text);
    return p.statement(known ?? text, true);
  }
}

function liveIn(rows: readonly Pick<GivenRow, "seq" | "state">[]): number[] {
  return rows.filter(({ state }) => state === "live").map(({ seq }) => seq);
}

/** With more messages there are too many texts for a connection to keep. */
function isFew(insert: FoldedUpdate["insert"]): boolean {
  return insert.length <= 4;
}
