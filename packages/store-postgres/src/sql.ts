import type { NormalHistoryQuery, NormalListQuery } from "@turnkeep/core/store-kit";
import type { Identifiers } from "./migrations.ts";
import { Parameters } from "./parameters.ts";
import {
  dataKey,
  type HistoryRow,
  type KeyedRow,
  type ListRow,
  type LookRow,
  type RemovedRow,
} from "./records.ts";

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
  /** How many it looked at, how many of them it settled, by a removal or a later time, and how many it removed. */
  readonly found: string;
  readonly settled: string;
  readonly removed: string;
  /** The place of the last one; null: none. */
  readonly at: string | null;
  readonly key: string | null;
}

/** A place in the order in which sweeps look at memories: seconds since the epoch, and the memory's key. */
export interface SweepPlace {
  readonly at: string;
  readonly key: string;
}

/** How many memories one statement of `sweep` looks at. */
export const sweepBatch = 100;

export const now: string = "statement_timestamp()";
export const present: string = `(h.expires_at is null or h.expires_at > ${now})`;

/**
 * A PGlite drops a byte order mark at the start of a column, and an id may begin with one. So columns that are not JSON
 * are returned behind a mark of ours, which the reader removes.
 */
const marked = (column: string, name: string): string => `'=' || ${column} as ${name}`;
const columns = "m.seq || ' ' || m.created_at || ' ' || m.id as key, m.payload, m.meta";

/** The state of a message `m`: the head says which are live; a row only says how a message left. */
const stateBy = (live: string): string =>
  `case when ${live} @> m.seq then 'live' when m.superseded then 'superseded' else 'evicted' end`;

/** How a listing is ordered: a memory's position as a text, which ones stand behind a position, and in which order. */
interface Ordering {
  readonly position: string;
  readonly behind: string;
  readonly by: string;
}

function byBeginning(p: Parameters, after = "0"): Ordering {
  return {
    position: "h.memory_key::text",
    behind: `h.memory_key > ${p.integer(after)}`,
    by: "h.memory_key",
  };
}

/** A position is the memory's key, and its activity in seconds since the epoch. */
function byActivity(p: Parameters, after = "0 infinity"): Ordering {
  const [key, at] = after.split(" ");
  return {
    position: "h.memory_key || ' ' || extract(epoch from h.active_at)",
    behind: `(h.active_at, h.memory_key) < (to_timestamp(${p.text(at)}::float8), ${p.integer(key)})`,
    by: "h.active_at desc, h.memory_key desc",
  };
}

/** The statements that read and delete. Each is its own transaction and needs no session. */
export class Statements {
  readonly #memories: string;
  readonly #messages: string;
  /** Made once: an identical string is found faster by its name. */
  readonly #read: string;

  constructor({ memories, messages }: Identifiers) {
    this.#memories = memories;
    this.#messages = messages;
    const isNews = "h.version is distinct from $2::text";
    this.#read = `
      with head as materialized (
        select * from ${memories} h where h.memory_id = $1::text and ${present})
      select '=' || h.next_seq || ' ' || case when ${isNews} then h.live::text else '' end || ' ' || h.version as key,
        h.head as payload, ${marked("h.owner", "meta")}
      from head h
      union all
      select '${dataKey}', h.data, null from head h where h.data is not null
      union all
      select ${columns} from head h ${this.#joinLive()} where ${isNews}`;
  }

  /** No row: no such memory. Only the head and data: no live messages, or the memory is at the known version. */
  read(memoryId: string, known: string | undefined): Statement<KeyedRow> {
    return { text: this.#read, values: [memoryId, known ?? null], recurs: true };
  }

  /** The version and next seq, with those of the named messages that exist, or are live without a row. */
  look(memoryId: string, seqs: readonly number[]): Statement<LookRow> {
    const p = new Parameters();
    const head = this.#head(p, memoryId, p.seqs(seqs));
    return p.statement(`${head}
      select ${marked("h.version", "version")}, h.next_seq::text as next,
        m.seq::text as seq, ${marked("m.id", "id")}, ${stateBy("h.live")} as state
      from head h
      left join lateral (
        select n.seq, o.id, o.superseded from unnest(${p.integers(seqs)}) as n (seq)
        left join lateral (
          select * from ${this.#messages} o where o.memory_key = h.memory_key and o.seq = n.seq offset 0) as o on true
        where o.id is not null or h.live @> n.seq) as m on true`);
  }

  /** No row: no such memory. Else its version, and what has become of it. */
  remove(memoryId: string, expected: string | undefined): Statement<RemovedRow> {
    const p = new Parameters();
    const id = p.text(memoryId);
    const ifExpected = expected === undefined ? "" : `and h.version = ${p.text(expected)}`;
    return p.statement(`
      with gone as (delete from ${this.#memories} h where h.memory_id = ${id} ${ifExpected} returning 1)
      select ${marked("h.version", "version")},
        case when exists (select from gone) then 'removed' when ${present} then 'present' else 'expired' end as state
      from ${this.#memories} h where h.memory_id = ${id}`);
  }

  /**
   * One row more than the limit means that there are more. With the live ranges of the page, unless no live message can be
   * in it that is lost.
   */
  history(memoryId: string, query: NormalHistoryQuery): Statement<HistoryRow> {
    const { after, before, order, limit, states, ids } = query;
    const p = new Parameters();
    const [from, to] = [p.integer(after), p.integer(before)];
    const between = `int8multirange(int8range(${from}, greatest(${from}, ${to}), '()'))`;
    const head = this.#head(p, memoryId, between);
    const inOrder = order === "ascending" ? "asc" : "desc";
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
    const liveOnes = `
      select m.seq as position, 'live' as state, ${columns} from head h ${this.#joinLive(inOrder, limit + 1)}`;
    // `offset 0` makes it look up each id by its index: the planner might otherwise search the whole history for them.
    const ofIds = (ids: readonly string[]): string => `
      select found.* from unnest(${p.texts(ids)}) as wanted (id)
      cross join lateral (${matching} and m.id = wanted.id offset 0) as found`;
    const found = ids !== undefined ? ofIds(ids) : states.join() === "live" ? liveOnes : matching;
    // As far as the page goes, which is all of it unless it is full.
    const last = `case when count(*) > ${limit} then ${order === "ascending" ? "max" : "min"}(position) end`;
    const page = `int8range(${order === "ascending" ? `null, ${last}` : `${last}, null`}, '[]')`;
    const ranges =
      ids === undefined && states.includes("live")
        ? `select 'head' as state, (h.live * (select int8multirange(${page}) from page))::text as key, null as payload, null as meta
          from head h union all`
        : "";
    return p.statement(`
      ${head}, page as materialized (${found} order by position ${inOrder} limit ${limit + 1})
      ${ranges} select state, key, payload, meta from page`);
  }

  /**
   * In the order in which the memories began, or by the activity that was noted last. One row beyond the limit: there are
   * more.
   */
  list({ owner, order, after, limit }: NormalListQuery): Statement<ListRow> {
    const p = new Parameters();
    const { position, behind, by } = order === "newest" ? byActivity(p, after) : byBeginning(p, after);
    return p.statement(`
      select ${position} as position, ${marked("h.memory_id", "id")}, ${marked("h.owner", "owner")},
        floor(extract(epoch from h.updated_at) * 1000)::bigint::text as updated, h.data
      from ${this.#memories} h
      where ${behind} and ${present} ${owner === undefined ? "" : `and h.owner = ${p.text(owner)}`}
      order by ${by} limit ${limit + 1}`);
  }

  /**
   * Looks at one batch of the memories behind that place whose time has come: removes those that have expired, and puts off the
   * others. A row that it has locked is judged as it is now, and changes no more.
   */
  sweep({ at, key }: SweepPlace): Statement<SweepRow> {
    const p = new Parameters();
    return p.statement(`
      with batch as (
        select h.memory_key, h.sweep_at, not ${present} as expired from ${this.#memories} h
        where (h.sweep_at, h.memory_key) > (to_timestamp(${p.text(at)}::float8), ${p.integer(key)})
          and h.sweep_at <= ${now}
        order by h.sweep_at, h.memory_key limit ${sweepBatch} for update skip locked),
      gone as (
        delete from ${this.#memories} h using batch
        where h.memory_key = batch.memory_key and batch.expired returning 1),
      kept as (
        update ${this.#memories} h set sweep_at = h.expires_at from batch
        where h.memory_key = batch.memory_key and not batch.expired returning 1),
      counted as (
        select (select count(*) from batch) as found, (select count(*) from gone) as removed, (select count(*) from kept) as kept)
      select found::text, (removed + kept)::text as settled, removed::text,
        extract(epoch from sweep_at)::text as at, memory_key::text as key
      from counted left join (select * from batch order by sweep_at desc, memory_key desc limit 1) as last on true`);
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
}
