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

/**
 * The part of a statement that writes the head. The usual one takes no parameters for what few updates change; `more` sets the
 * owner, the data and a time to live of the update's own.
 */
interface Head {
  readonly text: string;
  /**
   * The whole statements by the number of messages, up to {@link mostInserted}. Made once: that takes longer than to fill one
   * in, and an identical string is found faster by its name.
   */
  readonly whole: Map<number, string>;
}

/** Makes a statement; `lost` are the seqs of live messages whose rows are gone. */
type Attempt = (lost: readonly number[]) => Statement<unknown>;

/** The statements that update a memory. */
export class Updates {
  readonly #memories: string;
  readonly #messages: string;
  readonly #ttlMs: number | undefined;
  /** A new head, with the parameters of `#begin`; `more`: and the data and the time to live. */
  readonly #begun: { readonly usual: Head; readonly more: Head };
  /**
   * The change of the head `h`, with the parameters of `#headChange`; `more`: and the owner, the data and the time to live.
   * More conditions may be added.
   */
  readonly #changed: { readonly usual: Head; readonly more: Head };

  constructor({ memories, messages }: Identifiers, ttlMs: number | undefined, activityMs: number) {
    this.#memories = memories;
    this.#messages = messages;
    this.#ttlMs = ttlMs;
    const after = (ms: number | string): string => `${now} + ${ms} * interval '1 millisecond'`;
    const expiry = ttlMs === undefined ? "null" : after(ttlMs);
    // The insert reads what the delete returns, so it runs after it.
    const begun = (expiry: string, column = "", value = ""): Head => ({
      text: `
      with expired as (
        delete from ${memories} h where h.memory_id = $1::text and not ${present} returning 1),
      head as (
        insert into ${memories} as h
          (memory_id, owner, version, next_seq, head, live, ${column}updated_at, expires_at, sweep_at)
        select $1::text, $2::text, $3::text, $4::bigint, $5::text, $6::int8multirange, ${value}${now}, ${expiry}, ${expiry}
        from (select count(*) from expired) as cleared
        on conflict (memory_id)`,
      whole: new Map(),
    });
    this.#begun = { usual: begun(expiry), more: begun(after("$8::bigint"), "data, ", "$7::text, ") };
    // Indexed, so it stays as it is until it is too old.
    const activity = `case when h.active_at + ${activityMs} * interval '1 millisecond' > ${now} then h.active_at else ${now} end`;
    const changed = (expiry: string, more = ""): Head => ({
      text: `
      update ${memories} h
      set version = $3::text, next_seq = $4::bigint, head = coalesce($5::text, h.head),
        live = h.live - $7::int8multirange + $8::int8multirange, updated_at = ${now},
        active_at = ${activity}, expires_at = ${expiry}${more}
      where h.memory_id = $1::text and h.version = $2::text and ${present} and h.next_seq <= $6::bigint`,
      whole: new Map(),
    });
    // A write prolongs the life of a memory. When a sweep looks at it stays, unless that were too late.
    const swept = (expiry: string): string => `, sweep_at = least(h.sweep_at, ${expiry})`;
    const own = after("$11::bigint");
    this.#changed = {
      usual: changed(expiry, ttlMs === undefined ? "" : swept(expiry)),
      more: changed(
        own,
        `, owner = coalesce($9::text, h.owner), data = coalesce($10::text, h.data)${swept(own)}`,
      ),
    };
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
    const { owner, version, nextSeq, insert, data, ttlMs } = update;
    const isUsual = data === undefined && ttlMs === undefined;
    const head = isUsual ? this.#begun.usual : this.#begun.more;
    const live = rangesOf(liveIn(insert));
    const p = new Parameters([memoryId, owner ?? null, version, `${nextSeq}`, update.head ?? null, live]);
    if (!isUsual) p.values.push(data ?? null, this.#livesFor(update));
    // A row that was there before has been locked, which its `xmax` says.
    const textOf = (): string => `
      ${head.text} ${otherwise} returning h.memory_key, h.xmax = 0 as is_new)
      ${insert.length > 0 ? this.#inserted(p, insert) : "select 'done' as done from head"} where head.is_new`;
    return otherwise === "do nothing" ? this.#recurring(head, p, insert, textOf) : p.statement(textOf());
  }

  /**
   * Changes a memory at the expected version by new messages and evictions of live ones. A live message certainly
   * exists, so only the head and the new rows are touched.
   */
  #append(memoryId: string, update: FoldedUpdate): Statement<unknown> {
    const { insert, moved } = update;
    const { head, p } = this.#headChange(memoryId, update, seqsOf(moved), liveIn(insert));
    const text = `${head.text} and h.live @> $7::int8multirange`;
    return this.#recurring(head, p, insert, () =>
      insert.length === 0
        ? text
        : `with head as (${text} returning h.memory_key) ${this.#inserted(p, insert)}`,
    );
  }

  /** The change of the head with its first parameters: among them the seqs that cease to be live, and those that become so. */
  #headChange(
    memoryId: string,
    update: FoldedUpdate,
    leaving: readonly number[],
    coming: readonly number[],
  ): { readonly head: Head; readonly p: Parameters } {
    const { expected, version, nextSeq, first, owner, head, data, ttlMs } = update;
    const ranges = [rangesOf(leaving), rangesOf(coming)];
    const texts = [memoryId, expected, version, `${nextSeq}`, head ?? null, `${first}`, ...ranges];
    const p = new Parameters(texts);
    if (owner === undefined && data === undefined && ttlMs === undefined) {
      return { head: this.#changed.usual, p };
    }
    p.values.push(owner ?? null, data ?? null, this.#livesFor(update));
    return { head: this.#changed.more, p };
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
    const { head, p } = this.#headChange(memoryId, update, seqsOf(leaving), coming);
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
      `head as (${head.text} and ${agrees} returning h.memory_key)`,
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
    { whole }: Head,
    p: Parameters,
    insert: FoldedUpdate["insert"],
    textOf: () => string,
  ): Statement<unknown> {
    if (insert.length > mostInserted) return p.statement(textOf());
    const known = whole.get(insert.length);
    if (known !== undefined) {
      p.addRows(insert);
      return p.statement(known, true);
    }
    const text = textOf();
    whole.set(insert.length, text);
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
