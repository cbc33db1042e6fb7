import type { MemoryUpdate, MessageState, StoredMessage } from "@turnkeep/core";
import type { FoldedUpdate } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import {
  batch,
  type Entry,
  type FoundRow,
  formerLives,
  leftovers,
  literal,
  outcome,
  present,
  tooLarge,
  type Written,
  without,
} from "./documents.ts";
import type { Statement } from "./statements.ts";

/** Whether {@link Changes.append} can make the change: new messages, and live ones that are evicted. */
export function isAppend({ rewrite, setState, remove }: FoldedUpdate): boolean {
  return (
    rewrite.length === 0 &&
    remove.length === 0 &&
    setState.length <= batch &&
    setState.every(({ state }) => state === "evicted")
  );
}

/** The statements that change what a memory holds. Each is one conditional command on its document. */
export class Changes {
  readonly #ttlMs: number | undefined;
  readonly #expiry: Document | string;

  constructor(ttlMs: number | undefined) {
    this.#ttlMs = ttlMs;
    this.#expiry = ttlMs === undefined ? "$$REMOVE" : { $add: ["$$NOW", ttlMs] };
  }

  /** Begins a memory, over an expired one too. `attempt`: its rows are staged, of a life of that name. */
  begin(
    memoryId: string,
    { version, nextSeq, owner, head }: MemoryUpdate,
    insert: FoldedUpdate["insert"],
    entryOf: (message: StoredMessage) => Entry,
    life: string,
    attempt: string | undefined,
  ): Statement<Written | null> {
    const live: Record<string, Entry> = {};
    const left: Record<string, Entry> = {};
    for (const message of insert) {
      if (message.state === "live") live[message.seq] = entryOf(message);
      else left[message.seq] = { ...entryOf(message), s: message.state };
    }
    const memory = {
      _id: "$_id",
      life: literal(life),
      version: literal(version),
      next: nextSeq,
      ...(owner === undefined ? {} : { owner: literal(owner) }),
      ...(head === undefined ? {} : { head: literal(head) }),
      updatedAt: "$$NOW",
      expiresAt: this.#expiry,
      live: literal(live),
      left: literal(left),
      apart: attempt !== undefined,
      trash: [],
      former: formerLives,
      attempts: [],
      stows: [],
      dead: without("$attempts", attempt === undefined ? [] : [attempt]),
      gen: { $literal: 0 },
    };
    const pipeline = [{ $replaceWith: { $cond: [present, "$$ROOT", memory] } }];
    const filter = attempt === undefined ? { _id: memoryId } : { _id: memoryId, attempts: attempt };
    return ({ memories }) =>
      memories.findOneAndUpdate(filter, pipeline, {
        upsert: attempt === undefined,
        returnDocument: "after",
        projection: outcomeOf(version),
      }) as Promise<Written | null>;
  }

  /**
   * Changes a memory that is at the expected version and agrees with the update. `null`: it was not. `rows` are those
   * messages that a move names and that the document does not know.
   */
  change(
    memoryId: string,
    update: MemoryUpdate,
    { insert, rewrite, setState, remove }: FoldedUpdate,
    entryOf: (message: StoredMessage) => Entry,
    rows: ReadonlyMap<number, FoundRow>,
    attempt: string | undefined,
  ): Statement<Written | null> {
    const { expected, version, nextSeq, head, append, replace } = update;
    const set: Document = {
      version: literal(version),
      next: nextSeq,
      updatedAt: "$$NOW",
      expiresAt: this.#expiry,
      ...(head === undefined ? {} : { head: literal(head) }),
    };
    const unset: string[] = [];
    const trash: unknown[] = [];
    function place(seq: number, state: MessageState, entry: unknown): void {
      const [to, from] = state === "live" ? ["live", "left"] : ["left", "live"];
      set[`${to}.${seq}`] = entry;
      unset.push(`${from}.${seq}`);
    }
    const stored = (seq: number): Document => ({ $ifNull: [`$live.${seq}`, `$left.${seq}`] });
    const rowOf = (seq: number): Document => ({ $ifNull: [`$live.${seq}.r`, `$left.${seq}.r`, null] });
    for (const message of insert) {
      const { seq, state } = message;
      const entry = { ...entryOf(message), ...(state === "live" ? {} : { s: state }) };
      set[`${state === "live" ? "live" : "left"}.${seq}`] = literal(entry);
    }
    for (const message of rewrite) {
      place(message.seq, message.state, literal({ ...entryOf(message), s: message.state }));
      trash.push(rowOf(message.seq));
    }
    for (const { seq, state } of setState) {
      const row = rows.get(seq);
      const entry = row === undefined ? stored(seq) : literal({ i: row.id, a: row.at, r: row._id });
      place(seq, state, { $mergeObjects: [entry, { s: state }] });
    }
    for (const seq of remove) {
      trash.push(rows.get(seq)?._id ?? rowOf(seq));
      unset.push(`live.${seq}`, `left.${seq}`);
    }
    if (trash.length > 0) {
      const fresh = { $filter: { input: trash, cond: { $ne: ["$$this", null] } } };
      set.trash = { $concatArrays: ["$trash", fresh] };
    }
    if (attempt !== undefined) set.apart = true;
    // Whoever else is staging rows for the same version has lost.
    const lost = without("$attempts", attempt === undefined ? [] : [attempt]);
    set.dead = { $concatArrays: ["$dead", lost] };
    set.attempts = [];
    const known = [...setState.map(({ seq }) => seq), ...remove].filter((seq) => !rows.has(seq));
    const agrees = [present];
    if (known.length > 0) {
      const keys = { $objectToArray: { $mergeObjects: ["$live", "$left"] } };
      agrees.push({ $setIsSubset: [known.map(String), { $map: { input: keys, in: "$$this.k" } }] });
    }
    const filter: Document = {
      _id: memoryId,
      version: expected,
      next: { $lte: append[0]?.seq ?? nextSeq },
      ...(attempt === undefined ? {} : { attempts: attempt }),
      ...Object.fromEntries(replace.map(({ seq, id }) => [`live.${seq}.i`, id])),
      $expr: { $and: agrees },
    };
    const pipeline = [{ $set: set }, ...(unset.length > 0 ? [{ $unset: unset }] : [])];
    return ({ memories }) =>
      memories.findOneAndUpdate(filter, pipeline, {
        returnDocument: "after",
        projection: outcome,
      }) as Promise<Written | null>;
  }

  /**
   * The common case of `change` at half of its cost: plain operators touch nothing but what they name, and the server
   * keeps no copy of the document for a repeated command, as it does for one that answers the document. `false`: the
   * memory is not as this expects, or something of it is to be settled first.
   */
  append(
    memoryId: string,
    { expected, version, nextSeq, head, append: [first] }: MemoryUpdate,
    { insert, setState }: FoldedUpdate,
    entryOf: (message: StoredMessage) => Entry,
  ): Statement<boolean> {
    const set: Document = { version, next: nextSeq, ...(head === undefined ? {} : { head }) };
    for (const message of insert) {
      const { seq, state } = message;
      if (state === "live") set[`live.${seq}`] = entryOf(message);
      else set[`left.${seq}`] = { ...entryOf(message), s: state };
    }
    const seqs = setState.map(({ seq }) => seq);
    const filter: Document = {
      _id: memoryId,
      version: expected,
      next: { $lte: first?.seq ?? nextSeq },
      // Others who stage rows for this version would have to be told that they have lost; and the next write settles
      // what an earlier one has left.
      ...Object.fromEntries(["attempts", ...leftovers].map((name) => [name, []])),
      live: { $type: "object" },
      left: { $type: "object" },
      ...Object.fromEntries(seqs.map((seq) => [`live.${seq}`, { $exists: true }])),
      $expr: { $and: [present, { $not: tooLarge }] },
    };
    return async ({ memories }) => {
      const { matchedCount } = await memories.updateOne(
        filter,
        this.#ttlMs === undefined ? operators(set, seqs) : pipeline(set, seqs, this.#expiry),
      );
      return matchedCount === 1;
    };
  }
}

/** A memory that was there already may be damaged: of it only the version counts. */
function outcomeOf(version: string): Document {
  const began = { $eq: ["$version", literal(version)] };
  return { _id: 0, version: 1, life: 1, unsettled: { $cond: [began, outcome.unsettled, false] } };
}

function operators(set: Document, evicted: readonly number[]): Document {
  const names = evicted.map((seq) => [`live.${seq}`, `left.${seq}`]);
  return {
    $set: set,
    ...(names.length === 0 ? {} : { $rename: Object.fromEntries(names) }),
    $unset: { expiresAt: "" },
    $currentDate: { updatedAt: true },
  };
}

/** The same; only a pipeline can reckon with the server's clock. */
function pipeline(set: Document, evicted: readonly number[], expiresAt: Document | string): Document[] {
  const literals = Object.entries(set).map(([path, value]) => [path, { $literal: value }]);
  const moved = evicted.map((seq) => [`left.${seq}`, `$live.${seq}`]);
  const fields = {
    ...Object.fromEntries([...literals, ...moved]),
    updatedAt: "$$NOW",
    expiresAt,
  };
  const names = evicted.map((seq) => `live.${seq}`);
  return [{ $set: fields }, ...(names.length === 0 ? [] : [{ $unset: names }])];
}
