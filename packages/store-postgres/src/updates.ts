import { type FoldedUpdate, isPlain, namedSeqs } from "@turnkeep/core/store-kit";
import type { Identifiers } from "./migrations.ts";
import { type GivenRow, Parameters } from "./parameters.ts";
import { now, present, type Statement } from "./sql.ts";

/** `lost`: the seqs of live messages whose rows are gone. */
type UpdateStatement = (lost: readonly number[]) => Statement<unknown>;

const rewritten = `, created_at = coalesce(c.created_at, m.created_at),
          payload = coalesce(c.payload, m.payload), meta = case when c.id is null then m.meta else c.meta end`;

/** Divides by zero, which undoes the statement, if a policy of the database has kept rows from the change. */
const allChanged = `1 / (not exists (select from head) or (select count(*) from c where c.differs) =
        (select count(*) from changed) + (select count(*) from removed))::int = 1`;

/** The statements that update a memory. */
export class Updates {
  readonly #memories: string;
  readonly #messages: string;
  readonly #expiry: string;
  /** A write prolongs the memory's life. When a sweep looks at it stays, unless that were too late. */
  readonly #prolonged: string;
  /** Recurring texts by what distinguishes them: an identical string is found faster by its name. */
  readonly #texts = new Map<string, string>();

  constructor({ memories, messages }: Identifiers, ttlMs: number | undefined) {
    this.#memories = memories;
    this.#messages = messages;
    this.#expiry = ttlMs === undefined ? "null" : `${now} + ${ttlMs} * interval '1 millisecond'`;
    const sweptInTime = ttlMs === undefined ? "" : `, sweep_at = least(h.sweep_at, ${this.#expiry})`;
    this.#prolonged = `expires_at = ${this.#expiry}${sweptInTime}`;
  }

  /**
   * One of these makes the update; the next is needed only if the one before changed nothing. The last one comes twice: what
   * it needs may have come about only after the first.
   */
  of(memoryId: string, update: FoldedUpdate): UpdateStatement[] {
    if (update.expected === null && namedSeqs(update).length === 0) {
      return ["do nothing", this.#refusal()].map(
        (otherwise) => () => this.#begin(memoryId, update, otherwise),
      );
    }
    const change: UpdateStatement = (lost) => this.#change(memoryId, update, lost);
    // An evicted message may exist without being live.
    const lean = isPlain(update) ? [() => this.#append(memoryId, update)] : [];
    return [...lean, change, change];
  }

  /**
   * What becomes of a beginning whose id is taken, asked a second time. It changes nothing either, but Postgres refuses it if
   * the policies of the database hide that memory, and so does the division if it has expired and was not deleted for them.
   * One that this statement cannot see yet has come, and expired, in a slow transaction of somebody else.
   */
  #refusal(): string {
    const isSeen = `exists (select from ${this.#memories} s where s.memory_key = h.memory_key)`;
    return `do update set next_seq = h.next_seq / (${present} or not ${isSeen})::int`;
  }

  /** Begins a memory, also in place of an expired one. */
  #begin(memoryId: string, update: FoldedUpdate, otherwise: string): Statement<unknown> {
    const p = new Parameters();
    const id = p.text(memoryId);
    const { owner, version, nextSeq, head, insert } = update;
    // The insert reads what the delete returns, so it runs after it.
    const expired = `expired as (delete from ${this.#memories} h where h.memory_id = ${id} and not ${present} returning 1)`;
    const begun = `
      insert into ${this.#memories} as h (memory_id, owner, version, next_seq, head, live, updated_at, expires_at, sweep_at)
      select ${id}, ${p.text(owner)}, ${p.text(version)}, ${p.integer(nextSeq)}, ${p.text(head)}, ${p.seqs(liveIn(insert))}, ${now}, ${this.#expiry}, ${this.#expiry}
      from (select count(*) from expired) as cleared
      on conflict (memory_id) ${otherwise} returning h.memory_key, h.xmax = 0 as is_new`;
    const last = insert.length > 0 ? this.#inserted(p, insert) : "select 'done' as done from head";
    // A row that was there before has been locked, which its `xmax` says.
    const text = `with ${expired}, head as (${begun}) ${last} where head.is_new`;
    const recurs = isFew(insert) && otherwise === "do nothing";
    return recurs ? this.#recurring(`begin ${insert.length}`, p, text) : p.statement(text);
  }

  /**
   * Changes a memory at the expected version by new messages and evictions of live ones. A live message certainly
   * exists, so only the head and the new rows are touched.
   */
  #append(memoryId: string, update: FoldedUpdate): Statement<never> {
    const p = new Parameters();
    const { insert, setState } = update;
    const evicted = p.seqs(setState.map(({ seq }) => seq));
    const head = `${this.#headChange(p, memoryId, update, evicted, p.seqs(liveIn(insert)))} and h.live @> ${evicted}`;
    const text =
      insert.length === 0
        ? head
        : `with head as (${head} returning h.memory_key) ${this.#inserted(p, insert)}`;
    return isFew(insert) ? this.#recurring(`append ${insert.length}`, p, text) : p.statement(text);
  }

  /**
   * Changes a memory that is at the expected version and agrees with the update. Of what was lost nothing is changed but the
   * ranges in the head; what replaces it is inserted.
   */
  #change(memoryId: string, update: FoldedUpdate, lost: readonly number[]): Statement<object> {
    const p = new Parameters();
    const leaving = [...update.replaced, ...update.moved].filter(({ state }) => state !== "live");
    const coming = liveIn([...update.insert, ...update.moved]);
    const head = this.#headChange(p, memoryId, update, p.seqs(leaving.map(({ seq }) => seq)), p.seqs(coming));
    const { insert, replaced, moved } = withoutLost(update, lost);
    const rows = replaced.length > 0 ? p.rows("r", [...replaced, ...moved]) : p.moves("r", moved);
    const agrees =
      replaced.length > 0
        ? `h.live @> ${p.seqs(replaced.map(({ seq }) => seq))}
          and not exists (select from c where c.place is null or c.id <> c.stored_id)`
        : "not exists (select from c where c.place is null)";
    const isRewritten = replaced.length > 0 ? " or r.id is not null" : "";
    const parts = [
      // `offset 0` makes it look up each row by its key: the planner might otherwise search the whole history for them.
      `c as materialized (
        select r.*, m.ctid as place, m.id as stored_id,
          r.state = 'removed' or m.superseded <> (r.state = 'superseded')${isRewritten} as differs
        from ${rows}
        left join lateral (
          select m.ctid, m.id, m.superseded from ${this.#messages} m
          where m.memory_key = (select h.memory_key from ${this.#memories} h where h.memory_id = ${p.text(memoryId)})
            and m.seq = r.seq
          offset 0) as m on true)`,
      `head as (${head} and ${agrees} returning h.memory_key)`,
      // A row's location is valid as long as the version is, which the head has just confirmed.
      `changed as (
        update ${this.#messages} m set superseded = c.state = 'superseded'${replaced.length > 0 ? rewritten : ""}
        from head, c where m.ctid = c.place and c.differs and c.state <> 'removed' returning 1)`,
      `removed as (
        delete from ${this.#messages} m using head, c where m.ctid = c.place and c.state = 'removed' returning 1)`,
    ];
    const last = insert.length > 0 ? this.#inserted(p, insert) : "select 'done' as done from head";
    const recurs =
      isFew(insert) && (replaced.length === 0 ? moved.length <= 16 : replaced.length + moved.length === 1);
    return p.statement(`with ${parts.join(",")} ${last} where ${allChanged}`, recurs);
  }

  /** The update of the head `h`, to which more conditions may be added. */
  #headChange(
    p: Parameters,
    memoryId: string,
    update: FoldedUpdate,
    leaving: string,
    coming: string,
  ): string {
    const { expected, version, nextSeq, head, appended } = update;
    return `
      update ${this.#memories} h
      set version = ${p.text(version)}, next_seq = ${p.integer(nextSeq)},
        head = coalesce(${p.text(head)}, h.head), live = h.live - ${leaving} + ${coming},
        updated_at = ${now}, ${this.#prolonged}
      where h.memory_id = ${p.text(memoryId)} and h.version = ${p.text(expected)} and ${present}
        and h.next_seq <= ${p.integer(appended[0]?.seq ?? nextSeq)}`;
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

/** The rows to change and to insert where these have none. */
function withoutLost(
  { insert, rewrite, replaced, moved }: FoldedUpdate,
  lost: readonly number[],
): Pick<FoldedUpdate, "insert" | "replaced" | "moved"> {
  const isKept = ({ seq }: { readonly seq: number }): boolean => !lost.includes(seq);
  return {
    insert: [...insert, ...rewrite.filter((row) => !isKept(row))],
    replaced: replaced.filter(isKept),
    moved: moved.filter(isKept),
  };
}

function liveIn(rows: readonly Pick<GivenRow, "seq" | "state">[]): number[] {
  return rows.filter(({ state }) => state === "live").map(({ seq }) => seq);
}

/** With more messages there are too many texts for a connection to keep. */
function isFew(insert: FoldedUpdate["insert"]): boolean {
  return insert.length <= 4;
}
