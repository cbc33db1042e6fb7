import type { MemoryUpdate, MessageState, StoredMessage } from "@turnkeep/core";
import type { FoldedUpdate, NormalHistoryQuery } from "@turnkeep/core/store-kit";
import type { Names } from "./migrations.ts";

/** One statement. Parameters and columns are texts, which it casts itself, so that no driver's type rules matter. */
export interface Statement<Row> {
  readonly text: string;
  readonly values: (string | null)[];
  /** Whether its text is one of a few, so that a connection may keep it parsed and planned. */
  readonly recurs?: boolean;
  /** Never there: the type of the rows that it answers. */
  readonly row?: Row;
}

interface HeadRow {
  readonly seq: null;
  readonly version: string;
  readonly next: string;
  readonly owner: string | null;
  readonly head: string | null;
}

export interface MessageRow {
  readonly seq: string;
  readonly id: string;
  readonly created: string;
  readonly payload: string;
  readonly meta: string | null;
}

/** One for the head, one for each live message. */
export type SnapshotRow = HeadRow | MessageRow;

/** The head with one of the messages that were asked for, or with none. */
export type LookRow = Pick<HeadRow, "version" | "next"> &
  ({ readonly seq: null } | (Pick<MessageRow, "seq" | "id"> & { readonly state: MessageState }));

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
 * A PGlite drops a byte order mark at the beginning of a column, where an id may have one. So what is no JSON is
 * answered behind a mark of ours, and {@link unmarked} takes it off.
 */
const marked = (column: string, name: string): string => `'=' || ${column} as ${name}`;
const columns = `m.seq::text as seq, ${marked("m.id", "id")}, m.created_at::text as created, m.payload, m.meta`;

/** A column that the statement answers behind a mark. */
export function unmarked(text: string): string {
  return text.slice(1);
}

/** The statements of the contract's methods. Each is a transaction of its own and needs no session. */
export class Statements {
  readonly #memories: string;
  readonly #messages: string;
  readonly #expiry: string;

  constructor({ memories, messages }: Names, ttlMs: number | undefined) {
    this.#memories = memories;
    this.#messages = messages;
    this.#expiry = ttlMs === undefined ? "null" : `${now} + ${ttlMs} * interval '1 millisecond'`;
  }

  /** No row: no such memory. The head alone: it has no live messages, or is at the version that is known. */
  read(memoryId: string, known: string | undefined): Statement<SnapshotRow> {
    const p = new Parameters();
    return p.statement(
      `
      with head as materialized (
        select * from ${this.#memories} h where h.memory_id = ${p.text(memoryId)} and ${present})
      select ${marked("version", "version")}, next_seq::text as next, ${marked("owner", "owner")}, head,
        null::text as seq, null::text as id, null::text as created, null::text as payload, null::text as meta
      from head
      union all
      select null, null, null, null, ${columns}
      from head join ${this.#messages} m on m.memory_key = head.memory_key and m.state = 'live'
      where head.version is distinct from ${p.text(known)}`,
      true,
    );
  }

  /** Begins a memory, over an expired one too. One row: it is done. */
  begin(memoryId: string, update: MemoryUpdate, insert: FoldedUpdate["insert"]): Statement<object> {
    const p = new Parameters();
    const id = p.text(memoryId);
    // The insert reads what the delete answers, so it comes after it.
    const parts = [
      `expired as (delete from ${this.#memories} h where h.memory_id = ${id} and not ${present} returning 1)`,
      `head as (
        insert into ${this.#memories} (memory_id, owner, version, next_seq, head, updated_at, expires_at)
        select ${id}, ${p.text(update.owner)}, ${p.text(update.version)}, ${p.integer(update.nextSeq)},
          ${p.text(update.head)}, ${now}, ${this.#expiry}
        from (select count(*) from expired) as cleared
        on conflict (memory_id) do nothing returning memory_key)`,
    ];
    if (insert.length > 0) parts.push(`inserted as (${this.#inserted(p, insert)})`);
    return p.statement(`with ${parts.join(",")} select 'done' as done from head`, isFew(insert));
  }

  /** Changes a memory that is at the expected version and agrees with the update. One row: it is done. */
  change(memoryId: string, update: MemoryUpdate, folded: FoldedUpdate): Statement<object> {
    const { insert, rewrite, setState, remove } = folded;
    const p = new Parameters();
    const id = p.text(memoryId);
    const parts: string[] = [];
    const moves = [...setState, ...remove.map((seq) => ({ seq, state: "removed" as const }))];
    let agrees = `h.next_seq <= ${p.integer(insert[0]?.seq ?? update.nextSeq)}`;
    if (rewrite.length + moves.length > 0) {
      const rows = rewrite.length > 0 ? p.rows("r", [...rewrite, ...moves]) : p.moves("r", moves);
      // `offset 0` has each row looked up by its key: the planner might search all of the history for them instead.
      parts.push(`c as materialized (
        select r.*, m.ctid as place, m.id as stored_id, m.state as stored_state
        from ${rows}
        left join lateral (
          select m.ctid, m.id, m.state from ${this.#messages} m
          where m.memory_key = (select h.memory_key from ${this.#memories} h where h.memory_id = ${id})
            and m.seq = r.seq
          offset 0) as m on true)`);
      const wrong = "c.id is not null and (c.stored_id <> c.id or c.stored_state <> 'live')";
      agrees += ` and not exists (select from c where c.place is null${rewrite.length > 0 ? ` or (${wrong})` : ""})`;
    }
    parts.push(`head as (
      update ${this.#memories} h
      set version = ${p.text(update.version)}, next_seq = ${p.integer(update.nextSeq)},
        head = coalesce(${p.text(update.head)}, h.head), updated_at = ${now}, expires_at = ${this.#expiry}
      where h.memory_id = ${id} and h.version = ${p.text(update.expected)} and ${present} and ${agrees}
      returning h.memory_key)`);
    // Where a row lies holds for as long as the version does, which the head has just vouched for.
    if (rewrite.length + setState.length > 0) {
      const rewritten = `, created_at = coalesce(c.created_at, m.created_at),
          payload = coalesce(c.payload, m.payload), meta = case when c.id is null then m.meta else c.meta end`;
      parts.push(`changed as (
        update ${this.#messages} m set state = c.state${rewrite.length > 0 ? rewritten : ""}
        from head, c where m.ctid = c.place and c.state <> 'removed')`);
    }
    if (remove.length > 0) {
      parts.push(`removed as (
        delete from ${this.#messages} m using head, c where m.ctid = c.place and c.state = 'removed')`);
    }
    const last =
      insert.length > 0
        ? `${this.#inserted(p, insert)} returning 'done' as done`
        : "select 'done' as done from head";
    const recurs =
      isFew(insert) && (rewrite.length === 0 ? moves.length <= 16 : rewrite.length + moves.length === 1);
    return p.statement(`with ${parts.join(",")} ${last}`, recurs);
  }

  /** Version and next seq, with those of the named messages that are there. */
  look(memoryId: string, seqs: readonly number[]): Statement<LookRow> {
    const p = new Parameters();
    return p.statement(`
      select ${marked("h.version", "version")}, h.next_seq::text as next,
        m.seq::text as seq, ${marked("m.id", "id")}, m.state
      from ${this.#memories} h
      left join ${this.#messages} m on m.memory_key = h.memory_key and m.seq = any (${p.integers(seqs)})
      where h.memory_id = ${p.text(memoryId)} and ${present}`);
  }

  remove(memoryId: string): Statement<never> {
    const p = new Parameters();
    return p.statement(`delete from ${this.#memories} where memory_id = ${p.text(memoryId)}`);
  }

  /** A row beyond the limit: there is more. */
  history(memoryId: string, query: NormalHistoryQuery): Statement<MessageRow & { state: MessageState }> {
    const { after, before, order, limit, states, ids } = query;
    const p = new Parameters();
    // A subquery and no join, so that rows come in the primary key's order and the limit ends the search.
    const matching = `
      select m.seq as position, m.state, ${columns} from ${this.#messages} m
      where m.memory_key = (
          select h.memory_key from ${this.#memories} h where h.memory_id = ${p.text(memoryId)} and ${present})
        and m.seq > ${p.integer(after)} and m.seq < ${p.integer(before)}
        and m.state = any (${p.texts(states)})`;
    const page = `order by position ${order === "ascending" ? "asc" : "desc"} limit ${limit + 1}`;
    if (ids === undefined) return p.statement(`${matching} ${page}`);
    // `offset 0` has each id looked up by its index: the planner might search all of the history for them instead.
    return p.statement(`
      select found.* from unnest(${p.texts(ids)}) as wanted (id)
      cross join lateral (${matching} and m.id = wanted.id offset 0) as found ${page}`);
  }

  /** In the order in which the memories began, after that key. A row beyond the limit: there is more. */
  list(
    owner: string | undefined,
    after: string,
    limit: number,
  ): Statement<{ key: string; id: string; owner: string | null; updated: string }> {
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

  #inserted(p: Parameters, rows: FoldedUpdate["insert"]): string {
    const [first, ...others] = rows;
    const source =
      first !== undefined && others.length === 0
        ? `select head.memory_key, ${p.row(first)} from head`
        : `select head.memory_key, r.seq, r.id, r.state, r.created_at, r.payload, r.meta
          from head, ${p.rows("r", rows)}`;
    return `insert into ${this.#messages} (memory_key, seq, id, state, created_at, payload, meta) ${source}`;
  }
}

/** Those of more messages are too many statements for a connection to keep. */
function isFew(insert: FoldedUpdate["insert"]): boolean {
  return insert.length <= 4;
}

type GivenRow = Partial<StoredMessage> & {
  readonly seq: number;
  readonly state: MessageState | "removed";
};

/** More rows travel as one JSON text: a statement takes 65,535 parameters at most. */
const maxRowsAsParameters = 1000;

/** Collects the parameters of one statement and answers how the statement names them. */
class Parameters {
  readonly #values: (string | null)[] = [];

  statement(text: string, recurs = false): Statement<never> {
    return { text, values: this.#values, recurs };
  }

  text(value: string | null | undefined): string {
    return this.#add(value, "text");
  }

  integer(value: number | string | undefined): string {
    return this.#add(value?.toString(), "bigint");
  }

  integers(values: readonly number[]): string {
    return this.#add(`{${values.join()}}`, "bigint[]");
  }

  texts(values: readonly string[]): string {
    return this.#add(`{${values.map((value) => `"${value.replace(/["\\]/g, "\\$&")}"`).join()}}`, "text[]");
  }

  json(value: unknown): string {
    return this.#add(JSON.stringify(value), "json");
  }

  /** Message rows as a table of that name. */
  rows(table: string, rows: readonly GivenRow[]): string {
    if (rows.length > maxRowsAsParameters) {
      const list = rows.map(({ createdAt, ...row }) => ({ ...row, created_at: createdAt }));
      return `json_to_recordset(${this.json(list)}) as ${table}
        (seq bigint, id text, state text, created_at bigint, payload text, meta text)`;
    }
    const list = rows.map((row) => `(${this.row(row)})`);
    return `(values ${list.join()}) as ${table} (seq, id, state, created_at, payload, meta)`;
  }

  /** The columns of one message. */
  row({ seq, id, state, createdAt, payload, meta }: GivenRow): string {
    const texts = [this.text(payload), this.text(meta)];
    return [this.integer(seq), this.text(id), this.text(state), this.integer(createdAt), ...texts].join();
  }

  /** Changes of state as a table of that name; up to 16 of them in the same words for 1, for 4 and for 16. */
  moves(table: string, moves: readonly Pick<GivenRow, "seq" | "state">[]): string {
    const names = `${table} (seq, state)`;
    const size = [1, 4, 16].find((size) => moves.length <= size);
    // A list and no array: the planner knows how long it is, and so that a plan for all parameters is as good.
    if (size !== undefined) {
      const rows = Array.from({ length: size }, (_, index) => moves[index]);
      const list = rows.map((row) => `(${this.integer(row?.seq)}, ${this.text(row?.state)})`);
      return `(select * from (values ${list.join()}) as ${names} where seq is not null) as ${table}`;
    }
    const seqs = this.integers(moves.map(({ seq }) => seq));
    return `unnest(${seqs}, ${this.texts(moves.map(({ state }) => state))}) as ${names}`;
  }

  #add(value: string | null | undefined, type: string): string {
    return `$${this.#values.push(value ?? null)}::${type}`;
  }
}
