import type { MemoryUpdate, MessageState, StoredMessage } from "@turnkeep/core";
import type { FoldedUpdate, NormalHistoryQuery } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import type { Collections } from "./client.ts";

/** One step against the database; nothing but the id of a memory and the conditions in it ties it to others. */
export type Statement<Answer> = (collections: Collections) => Promise<Answer>;

/** A message as the document of its memory has it: its content, or the row that has it. */
export interface Entry {
  /** Message id. */
  readonly i: string;
  /** `createdAt`. */
  readonly a: number;
  readonly p?: string;
  readonly m?: string;
  /** The row with the content. */
  readonly r?: string;
  /** Where the message left memory, and the row does not say so yet: `superseded`; else it was evicted. */
  readonly s?: MessageState;
}

/**
 * A memory. A row counts only when this document names it, or when the row itself says `evicted` or `superseded` and
 * this document does not override that by an entry or in `trash`.
 */
export interface MemoryDocument {
  readonly _id: string;
  /** Stands for one life of the id: rows belong to it. */
  readonly life?: string;
  /** Absent: there is no memory, only an attempt to begin one. */
  readonly version?: string;
  readonly next?: number;
  readonly owner?: string;
  readonly head?: string;
  readonly updatedAt?: Date;
  readonly expiresAt?: Date;
  readonly live?: Readonly<Record<string, Entry>>;
  readonly left?: Readonly<Record<string, Entry>>;
  /** Whether rows of this life may exist. */
  readonly apart?: boolean;
  /** Rows that count no more and are to be deleted. */
  readonly trash?: readonly string[];
  /** Earlier lives whose rows are to be deleted. */
  readonly former?: readonly string[];
  /** Updates that stage rows now. Only these can be applied, and only to this version. */
  readonly attempts?: readonly string[];
  /** The same for what is moved out of this document, which leaves the version as it is. */
  readonly stows?: readonly string[];
  /** Attempts that can be applied no more, whose rows are to be deleted. */
  readonly dead?: readonly string[];
  /** Counts who settles; rises. */
  readonly gen?: number;
  /** Changes whenever rows were deleted. */
  readonly dropped?: string;
}

/** Content of a message, under an id that is never used again. The content never changes. */
export interface RowDocument {
  readonly _id: string;
  readonly memory: string;
  readonly life: string;
  readonly attempt: string;
  readonly seq: number;
  readonly id: string;
  readonly at: number;
  readonly payload: string;
  readonly meta?: string;
  /** `staged`: only the memory's document can tell. */
  readonly state: "staged" | "evicted" | "superseded";
  readonly gen: number;
}

export interface MigrationDocument {
  readonly _id: string;
  readonly number: number;
}

/** What a write answers: the version that is now in place, and whether something is to be settled. */
export interface Written {
  readonly version?: string;
  readonly life?: string;
  readonly unsettled?: boolean;
}

export type FoundRow = Pick<RowDocument, "_id" | "seq" | "id" | "at"> & { readonly state: MessageState };

/** In bytes: a message above the first stands apart, and so do those of one update beyond the second together. */
const largestInside = 16 * 1024;
const largestUpdateInside = 64 * 1024;
/** A message below it takes no more room inside than its reference would. */
export const smallestApart = 128;
/** In bytes: what lives together in a document is moved out above it. */
export const documentCap: number = 128 * 1024;
/** Of what an entry takes at most where only a reference is left. */
const referenceBytes = 200;
/** How long an attempt to begin a memory may take, by the server's clock. */
const attemptLastsMs = 60 * 60 * 1000;
export const batch = 100;

const present: Document = {
  $and: [
    { $ne: [{ $type: "$version" }, "missing"] },
    { $or: [{ $ne: [{ $type: "$expiresAt" }, "date"] }, { $gt: ["$expiresAt", "$$NOW"] }] },
  ],
};
const expired: Document = {
  expiresAt: { $type: "date" },
  $expr: { $lte: ["$expiresAt", "$$NOW"] },
};

/** Whether what lives together in a document is too much. */
const tooLarge: Document = {
  $gt: [
    {
      $subtract: [
        { $bsonSize: "$$ROOT" },
        { $multiply: [referenceBytes, { $size: { $objectToArray: { $ifNull: ["$live", {}] } } }] },
      ],
    },
    documentCap,
  ],
};

/** What is to be settled: rows and lives that no longer count. */
const leftovers: readonly string[] = ["trash", "former", "dead"];

const outcome: Document = {
  _id: 0,
  version: 1,
  life: 1,
  unsettled: {
    $or: [...leftovers.map((name) => ({ $gt: [{ $size: `$${name}` }, 0] })), tooLarge],
  },
};

const anArray = (path: string): Document => ({ $cond: [{ $isArray: path }, path, []] });
const without = (path: string, values: readonly unknown[]): Document => ({
  $setDifference: [anArray(path), values],
});
const literal = (value: unknown): Document => ({ $literal: value });

/** Which messages of an update stand apart. */
export function isApart(sizes: readonly number[]): boolean[] {
  let room = largestUpdateInside;
  return sizes.map((bytes) => {
    if (bytes <= smallestApart) return false;
    if (bytes > largestInside || bytes > room) return true;
    room -= bytes;
    return false;
  });
}

/** Whether {@link Statements.append} can make the change: new messages, and live ones that are evicted. */
export function isAppend({ rewrite, setState, remove }: FoldedUpdate): boolean {
  return (
    rewrite.length === 0 &&
    remove.length === 0 &&
    setState.length <= batch &&
    setState.every(({ state }) => state === "evicted")
  );
}

/** The statements for the contract's methods. */
export class Statements {
  readonly #ttlMs: number | undefined;
  readonly #expiry: Document | string;

  constructor(ttlMs: number | undefined) {
    this.#ttlMs = ttlMs;
    this.#expiry = ttlMs === undefined ? "$$REMOVE" : { $add: ["$$NOW", ttlMs] };
  }

  /** Without its messages where it is at the version that is known. */
  read(memoryId: string, known: string | undefined): Statement<MemoryDocument | null> {
    const isKnown = { $eq: ["$version", { $literal: known ?? null }] };
    const live = known === undefined ? 1 : { $cond: [isKnown, "$$REMOVE", "$live"] };
    const projection = { life: 1, version: 1, next: 1, owner: 1, head: 1, live };
    return ({ memories, reading }) =>
      memories.findOne({ _id: memoryId, $expr: present }, { ...reading, projection });
  }

  /** Those rows that are there. */
  rows(ids: readonly string[]): Statement<RowDocument[]> {
    return ({ messages }) => messages.find({ _id: { $in: [...ids] } }).toArray();
  }

  /** Everything that the memory's document knows of its history. */
  ledger(memoryId: string): Statement<MemoryDocument | null> {
    const projection = { life: 1, version: 1, next: 1, live: 1, left: 1, trash: 1, apart: 1, dropped: 1 };
    return ({ memories, reading }) =>
      memories.findOne({ _id: memoryId, $expr: present }, { ...reading, projection });
  }

  /** Changes when rows of the life were deleted. */
  mark(memoryId: string, life: string): Statement<MemoryDocument | null> {
    return ({ memories }) => memories.findOne({ _id: memoryId, life }, { projection: { dropped: 1 } });
  }

  /** Rows of a life that count by themselves. One beyond the limit: there is more. */
  history(
    life: string,
    { after, before, order, limit, states, ids }: NormalHistoryQuery,
    except: readonly string[],
  ): Statement<RowDocument[]> {
    const counting = states.filter((state) => state !== "live");
    const filter: Document = {
      life,
      seq: { $gt: after, $lt: before },
      state: { $in: counting },
      _id: { $nin: except },
      ...(ids === undefined ? {} : { id: { $in: ids } }),
    };
    return ({ messages }) =>
      messages
        .find(filter)
        .hint(ids === undefined ? "seq" : "id")
        .sort({ seq: order === "ascending" ? 1 : -1 })
        .limit(limit + 1)
        .toArray();
  }

  /** Which of these messages have rows that count by themselves. */
  find(life: string, seqs: readonly number[], except: readonly string[]): Statement<FoundRow[]> {
    const filter = { life, seq: { $in: [...seqs] }, state: { $ne: "staged" }, _id: { $nin: [...except] } };
    return ({ messages }) =>
      messages
        .find(filter as Document)
        .hint("seq")
        .project<FoundRow>({ seq: 1, id: 1, at: 1, state: 1 })
        .toArray();
  }

  /** Announces an attempt that stages rows. `null`: it cannot be applied. */
  open(memoryId: string, expected: string | null, attempt: string): Statement<Written | null> {
    if (expected !== null) {
      const filter = { _id: memoryId, version: expected, $expr: present };
      return ({ memories }) =>
        memories.findOneAndUpdate(filter, { $push: { attempts: attempt } }, { projection: { version: 1 } });
    }
    const empty = {
      _id: "$_id",
      former: formerLives,
      attempts: { $concatArrays: [anArray("$attempts"), [attempt]] },
      dead: anArray("$dead"),
      expiresAt: { $add: ["$$NOW", attemptLastsMs] },
    };
    const pipeline = [{ $replaceWith: { $cond: [present, "$$ROOT", empty] } }];
    return async ({ memories }) => {
      const found = await memories.findOneAndUpdate({ _id: memoryId }, pipeline, {
        upsert: true,
        returnDocument: "after",
        projection: { attempts: 1 },
      });
      return found?.attempts?.includes(attempt) ? {} : null;
    };
  }

  insert(rows: readonly RowDocument[]): Statement<unknown> {
    return ({ messages }) => messages.insertMany([...rows], { ordered: false });
  }

  /** Removes rows of an attempt, unless it was applied after all and settled. */
  discard(rows: readonly string[]): Statement<number> {
    return async ({ messages }) =>
      (await messages.deleteMany({ _id: { $in: [...rows] }, state: "staged" })).deletedCount;
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

  /** Which life a memory has, expired ones and attempts to begin one too. */
  peek(memoryId: string): Statement<MemoryDocument | null> {
    const projection = { life: 1, former: 1, apart: 1 };
    return ({ memories }) => memories.findOne({ _id: memoryId }, { projection });
  }

  /** Removes that life of a memory and no other. */
  remove({ _id, life }: MemoryDocument, only?: "expired"): Statement<MemoryDocument | null> {
    const filter = { _id, life: life ?? null, ...(only === undefined ? {} : expired) } as Document;
    return ({ memories }) => memories.findOneAndDelete(filter, { projection: { life: 1 } });
  }

  /** Removes the rows of lives that are over. */
  bury(lives: readonly string[]): Statement<number> {
    return async ({ messages }) => (await messages.deleteMany({ life: { $in: [...lives] } })).deletedCount;
  }

  /** In the order of their ids, after that one. One beyond the limit: there is more. */
  list(owner: string | undefined, after: string, limit: number): Statement<MemoryDocument[]> {
    const filter = { _id: { $gt: after }, ...(owner === undefined ? {} : { owner }), $expr: present };
    return ({ memories }) =>
      memories
        .find(filter)
        .hint(owner === undefined ? "_id_" : "owner")
        .sort({ _id: 1 })
        .limit(limit + 1)
        .project<MemoryDocument>({ owner: 1, updatedAt: 1 })
        .toArray();
  }

  /** Expired memories after that id, and attempts to begin one that took too long. */
  overdue(after: string): Statement<MemoryDocument[]> {
    const filter = { ...expired, _id: { $gt: after } };
    return ({ memories }) =>
      memories
        .find(filter)
        .sort({ _id: 1 })
        .limit(batch)
        .project<MemoryDocument>({ life: 1, former: 1 })
        .toArray();
  }

  /** A life after that one, of which there are rows. */
  lifeAfter(life: string): Statement<Pick<RowDocument, "life" | "memory"> | undefined> {
    return async ({ messages }) =>
      (await messages
        .find({ life: { $gt: life } })
        .hint("seq")
        .sort({ life: 1 })
        .limit(1)
        .project<RowDocument>({ life: 1, memory: 1 })
        .next()) ?? undefined;
  }

  staged(life: string): Statement<Pick<RowDocument, "_id" | "attempt">[]> {
    return ({ messages }) =>
      messages
        .find({ life, state: "staged" })
        .hint("seq")
        .project<Pick<RowDocument, "_id" | "attempt">>({ attempt: 1 })
        .toArray();
  }

  /**
   * Takes back what was announced, so that those attempts can be applied no more, and answers what the document says
   * then. A write even where it changes nothing: its acknowledgement tells that a majority holds this state.
   */
  revoke(memoryId: string, attempts: readonly string[]): Statement<MemoryDocument | null> {
    const set = { attempts: without("$attempts", attempts), stows: without("$stows", attempts) };
    return ({ memories }) =>
      memories.findOneAndUpdate({ _id: memoryId }, [{ $set: set }], {
        returnDocument: "after",
        projection: { life: 1, live: 1, left: 1, trash: 1 },
      });
  }

  /** Announces who settles, and answers the document as a majority holds it. Others who settle can no more. */
  claim(memoryId: string, life: string, stow: string): Statement<(MemoryDocument & { size: number }) | null> {
    const set = {
      gen: { $add: ["$gen", 1] },
      dead: { $concatArrays: ["$dead", "$stows"] },
      stows: [stow],
    };
    return ({ memories }) =>
      memories.findOneAndUpdate({ _id: memoryId, life }, [{ $set: set }], {
        returnDocument: "after",
        projection: { ...everything, size: { $bsonSize: "$$ROOT" } } as Document,
      }) as Promise<(MemoryDocument & { size: number }) | null>;
  }

  /** Puts rows in the place of contents. */
  stow(
    { _id, version }: MemoryDocument,
    stow: string,
    entries: ReadonlyMap<string, Entry>,
  ): Statement<boolean> {
    const set: Document = { apart: true };
    for (const [path, entry] of entries) set[path] = literal(entry);
    const filter = { _id, version, stows: stow } as Document;
    return async ({ memories }) => (await memories.updateOne(filter, [{ $set: set }])).matchedCount === 1;
  }

  /** Rows say themselves that they left; one that settles late changes nothing. */
  setState(rows: readonly string[], state: "evicted" | "superseded", gen: number): Statement<unknown> {
    const filter = { _id: { $in: [...rows] }, gen: { $lt: gen } };
    return ({ messages }) => messages.updateMany(filter, { $set: { state, gen } });
  }

  drop(rows: readonly string[]): Statement<unknown> {
    return ({ messages }) => messages.deleteMany({ _id: { $in: [...rows] } });
  }

  /** Removes what attempts staged that were not applied. */
  discardAttempts(attempts: readonly string[], except: readonly string[]): Statement<unknown> {
    const filter = { attempt: { $in: [...attempts] }, state: "staged", _id: { $nin: [...except] } } as const;
    return ({ messages }) => messages.deleteMany(filter);
  }

  /** Forgets what was settled. */
  settled(
    { _id, version, trash = [], former = [], dead = [] }: MemoryDocument,
    stow: string,
    left: readonly string[],
  ): Statement<boolean> {
    const set: Document = {
      trash: without("$trash", trash),
      former: without("$former", former),
      dead: without("$dead", dead),
      stows: [],
      ...(trash.length > 0 ? { dropped: literal(stow) } : {}),
    };
    const pipeline = [
      { $set: set },
      ...(left.length > 0 ? [{ $unset: left.map((seq) => `left.${seq}`) }] : []),
    ];
    const filter = { _id, version, stows: stow } as Document;
    return async ({ memories }) => (await memories.updateOne(filter, pipeline)).matchedCount === 1;
  }
}

const everything: Document = Object.fromEntries(
  ["life", "version", "live", "left", "trash", "former", "dead", "gen"].map((name) => [name, 1]),
);

/** The lives before the one that begins, whose rows are still there. */
const formerLives: Document = {
  $concatArrays: [
    anArray("$former"),
    { $cond: [{ $and: ["$apart", { $eq: [{ $type: "$life" }, "string"] }] }, ["$life"], []] },
  ],
};

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
