import { type FoldedUpdate, isPlain, namedSeqs } from "@turnkeep/core/store-kit";
import type { Identifiers } from "./migrations.ts";
import { type GivenRow, Parameters, rangesOf } from "./parameters.ts";
import { now, present, type Statement } from "./sql.ts";

const rewritten = `, created_at = coalesce(c.created_at, m.created_at),
          payload = coalesce(c.payload, m.payload), meta = case when c.id is null then m.meta else c.meta end`;

/** Divides by zero, which undoes the statement, if a policy of the database has kept rows from the change. */
const allChanged = `1 / (not exists (select from head) or (select count(*) from c where c.differs) =
        (select count(*) from changed) + (select count(*) from removed))::int = 1`;

/** With more messages there are too many texts for a connection to keep. */
const mostInserted = 4;

/** Makes a statement; `lost` are the seqs of live messages whose rows are gone. */
type Attempt = (lost: readonly number[]) => Statement<unknown>;

/** The statements that update a memory. */
export class Updates {
  readonly #memories: string;
  readonly #messages: string;
  readonly #ttlMs: number | undefined;
  /** A new head, with the parameters of `#begin`. */
  readonly #begun: string;
  /** The change of the head `h`, with `#headParameters`. More conditions may be added. */
  readonly #changed: string;
  /**
   * Whole statements, by their kind and how many messages they add, up to {@link mostInserted}. Made once: that takes longer
   * than to fill one in, and an identical string is found faster by its name.
   */
  readonly #whole: Map<string, string> = new Map();

  constructor({ memories, messages }: Identifiers, ttlMs: number | undefined, activityMs: number) {
    this.#memories = memories;
    this.#messages = messages;
    this.#ttlMs = ttlMs;
    const after = (time: string, ms: number | string): string => `${time} + ${ms} * interval '1 millisecond'`;
    const begunUntil = after(now, "$8::bigint");
    // The insert reads what the delete returns, so it runs after it.
    this.#begun = `
      with expired as (
        delete from ${memories} h where h.memory_id = $1::text and not ${present} returning 1),
      head as (
        insert into ${memories} as h
          (memory_id, owner, version, next_seq, head, live, data, updated_at, expires_at, sweep_at)
        select $1::text, $2::text, $3::text, $4::bigint, $5::text, $6::int8multirange, $7::text,
          ${now}, ${begunUntil}, ${begunUntil}
        from (select count(*) from expired) as cleared
        on conflict (memory_id)`;
    const until = after(now, "$11::bigint");
    // No index is written for a value that stays: an owner that is not named; the activity, until it is too old; and when a
    // sweep looks at the memory, unless that were too late, though each write prolongs its life.
    this.#changed = `
      update ${memories} h
      set version = $3::text, next_seq = $4::bigint, head = coalesce($5::text, h.head),
        live = h.live - $7::int8multirange + $8::int8multirange, updated_at = ${now},
        active_at = case when ${after("h.active_at", activityMs)} > ${now} then h.active_at else ${now} end,
        owner = coalesce($9::text, h.owner), data = coalesce($10::text, h.data),
        expires_at = ${until}, sweep_at = least(h.sweep_at, ${until})
      where h.memory_id = $1::text and h.version = $2::text and ${present} and h.next_seq <= $6::bigint`;
  }

  /** The statements for an update, in turn; each is needed only if the one before changed nothing. */
  attempts(memoryId: string, update: FoldedUpdate): Attempt[] {
    if (update.expected === null && namedSeqs(update).length === 0) {
      return [
        () => this.#begin(memoryId, update, "do nothing"),
        () => this.#begin(memoryId, update, this.#refusal()),
      ];
    }
    const change: Attempt = (lost) => this.#change(memoryId, update, lost);
    // Twice: what it needs may have come about only after the first. An evicted message may exist without being live.
    return isPlain(update) ? [() => this.#append(memoryId, update), change, change] : [change, change];
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
    const { owner = null, version, nextSeq, insert, head = null, data = null } = update;
    const [live, lives] = [rangesOf(liveIn(insert)), this.#livesFor(update)];
    const p = new Parameters([memoryId, owner, version, `${nextSeq}`, head, live, data, lives]);
    // A row that was there before has been locked, which its `xmax` says.
    const textOf = (): string => `
      ${this.#begun} ${otherwise} returning h.memory_key, h.xmax = 0 as is_new)
      ${insert.length > 0 ? this.#inserted(p, insert) : "select 'done' as done from head"} where head.is_new`;
    return otherwise === "do nothing" ? this.#recurring("begin", p, insert, textOf) : p.statement(textOf());
  }

  /**
   * Changes a memory at the expected version by new messages and evictions of live ones. A live message certainly
   * exists, so only the head and the new rows are touched.
   */
  #append(memoryId: string, update: FoldedUpdate): Statement<unknown> {
    const { insert, moved } = update;
    const p = this.#headParameters(memoryId, update, seqsOf(moved), liveIn(insert));
    const text = `${this.#changed} and h.live @> $7::int8multirange`;
    return this.#recurring("append", p, insert, () =>
      insert.length === 0
        ? text
        : `with head as (${text} returning h.memory_key) ${this.#inserted(p, insert)}`,
    );
  }

  /** The parameters of a change of the head: among them the seqs that cease to be live, and those that become so. */
  #headParameters(
    memoryId: string,
    update: FoldedUpdate,
    leaving: readonly number[],
    coming: readonly number[],
  ): Parameters {
    const { expected, version, nextSeq, first, owner = null, head = null, data = null } = update;
    const texts = [memoryId, expected, version, `${nextSeq}`, head, `${first}`];
    const ranges = [rangesOf(leaving), rangesOf(coming)];
    return new Parameters([...texts, ...ranges, owner, data, this.#livesFor(update)]);
  }

  /** How many milliseconds the memory lives from this update on; null: for ever. */
  #livesFor({ ttlMs = this.#ttlMs }: FoldedUpdate): string | null {
    return ttlMs?.toString() ?? null;
  }

  /**
   * Changes a memory that is at the expected version and agrees with the update. Of what was lost nothing is changed but the
   * ranges in the head; what replaces it is inserted.
   */
  #change(memoryId: string, update: FoldedUpdate, lost: readonly number[]): Statement<object> {
    const corrected = update.replaced.filter(({ was }) => was !== undefined);
    const leaving = [...update.replaced, ...update.moved].filter(({ state }) => state !== "live");
    const coming = liveIn([...update.insert, ...update.moved, ...corrected]);
    const p = this.#headParameters(memoryId, update, seqsOf(leaving), coming);
    const { insert, replaced, moved } = withoutLost(update, lost);
    const rows = replaced.length > 0 ? p.rows("r", [...replaced, ...moved]) : p.moves("r", moved);
    const seqsCorrected = corrected.length === 0 ? undefined : p.seqs(seqsOf(corrected));
    const areEvicted =
      seqsCorrected === undefined
        ? ""
        : ` and not h.live && ${seqsCorrected}
          and not exists (select from c where c.was_superseded and ${seqsCorrected} @> c.seq)`;
    const agrees =
      replaced.length > 0
        ? `h.live @> ${p.seqs(seqsOf(replaced.filter(({ was }) => was === undefined)))}
          and not exists (select from c where c.place is null or c.id <> c.stored_id)${areEvicted}`
        : "not exists (select from c where c.place is null)";
    const isRewritten = replaced.length > 0 ? " or r.id is not null" : "";
    const parts = [
      // `limit 1` makes it look up each row by its key: the planner might otherwise search the whole history for them. Of
      // partitions, it would expect one row from each.
      `c as materialized (
        select r.*, m.memory_key, m.ctid as place, m.id as stored_id,${areEvicted && " m.superseded as was_superseded,"}
          r.state = 'removed' or m.superseded <> (r.state = 'superseded')${isRewritten} as differs
        from ${rows}
        left join lateral (
          select m.memory_key, m.ctid, m.id, m.superseded from ${this.#messages} m
          where m.memory_key = (select h.memory_key from ${this.#memories} h where h.memory_id = $1::text)
            and m.seq = r.seq
          limit 1) as m on true)`,
      `head as (${this.#changed} and ${agrees} returning h.memory_key)`,
      // A row's location is valid as long as the version is, which the head has just confirmed. Other partitions have that
      // location too; the key says which of them it is.
      `changed as (
        update ${this.#messages} m set superseded = c.state = 'superseded'${replaced.length > 0 ? rewritten : ""}
        from head, c where m.ctid = c.place and m.memory_key = c.memory_key and c.differs and c.state <> 'removed' returning 1)`,
      `removed as (
        delete from ${this.#messages} m using head, c
        where m.ctid = c.place and m.memory_key = c.memory_key and c.state = 'removed' returning 1)`,
    ];
    const last = insert.length > 0 ? this.#inserted(p, insert) : "select 'done' as done from head";
    const recurs =
      insert.length <= mostInserted &&
      (replaced.length === 0 ? moved.length <= 16 : replaced.length + moved.length === 1);
    return p.statement(`with ${parts.join(",")} ${last} where ${allChanged}`, recurs);
  }

  #inserted(p: Parameters, rows: readonly GivenRow[]): string {
    return `
      insert into ${this.#messages} (memory_key, seq, id, superseded, created_at, payload, meta)
      select head.memory_key, r.seq, r.id, r.state = 'superseded', r.created_at, r.payload, r.meta from head, ${p.rows("r", rows)}`;
  }

  /** The statement with a text that is known, if it adds few messages, and else with one of its own; `textOf` adds their values. */
  #recurring(
    kind: "begin" | "append",
    p: Parameters,
    insert: FoldedUpdate["insert"],
    textOf: () => string,
  ): Statement<unknown> {
    if (insert.length > mostInserted) return p.statement(textOf());
    const name = `${kind} ${insert.length}`;
    const known = this.#whole.get(name);
    if (known !== undefined) {
      p.addRows(insert);
      return p.statement(known, true);
    }
    const text = textOf();
    this.#whole.set(name, text);
    return p.statement(text, true);
  }
}

/** The rows to change and to insert where these have none. */
function withoutLost(
  { insert, replaced, moved }: FoldedUpdate,
  lost: readonly number[],
): { readonly insert: readonly GivenRow[] } & Pick<FoldedUpdate, "replaced" | "moved"> {
  const isKept = ({ seq }: { readonly seq: number }): boolean => !lost.includes(seq);
  return {
    insert: [...insert, ...replaced.filter((row) => !isKept(row) && row.state !== "removed")],
    replaced: replaced.filter(isKept),
    moved: moved.filter(isKept),
  };
}

function liveIn(rows: readonly Pick<GivenRow, "seq" | "state">[]): number[] {
  return seqsOf(rows.filter(({ state }) => state === "live"));
}

function seqsOf(rows: readonly Pick<GivenRow, "seq">[]): number[] {
  return rows.map(({ seq }) => seq);
}
