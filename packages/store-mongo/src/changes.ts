import type { MemoryUpdate, MessageState, StoredMessage } from "@turnkeep/core";
import type { FoldedUpdate } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import {
  type Entry,
  type FoundRows,
  formerLives,
  leftovers,
  literal,
  outcome,
  present,
  tooLarge,
  type Written,
  without,
} from "./documents.ts";
import { referenceTo } from "./staging.ts";
import { alter, replaceAbsent, type Statement } from "./statements.ts";

/** An update, and how it is made. */
export interface Pending {
  readonly memoryId: string;
  readonly update: MemoryUpdate;
  readonly folded: FoldedUpdate;
  readonly ttlMs: number | undefined;
  /** A message as the document is to have it. */
  readonly entryOf: (message: StoredMessage) => Entry;
  /** The attempt that has staged rows, if there are any. */
  readonly attempt?: string | undefined;
}

// Each of these is one conditional command on the memory's document.

/** Begins a memory, over an expired one too. */
export function begin(pending: Pending, life: string): Statement<Written | null> {
  const { memoryId, update, folded, attempt } = pending;
  const { version, nextSeq, owner, head } = update;
  const maps: Record<Place, Record<string, Entry>> = { live: {}, left: {} };
  for (const message of folded.insert) maps[placeOf(message)][message.seq] = newEntry(pending, message);
  const memory = {
    _id: "$_id",
    life: literal(life),
    version: literal(version),
    next: nextSeq,
    owner: literal(owner),
    head: literal(head),
    updatedAt: "$$NOW",
    expiresAt: expiryOf(pending),
    live: literal(maps.live),
    left: literal(maps.left),
    apart: attempt !== undefined,
    trash: [],
    former: formerLives,
    attempts: [],
    stows: [],
    dead: lost(attempt),
    gen: { $literal: 0 },
  };
  // A memory that was there already may be damaged: of it only the version counts.
  const began = { $eq: ["$version", literal(version)] };
  const answer = { ...outcome, unsettled: { $cond: [began, outcome.unsettled, false] } };
  return alter({ _id: memoryId, attempts: attempt }, replaceAbsent(memory), answer, attempt === undefined);
}

/**
 * Changes a memory that is at the expected version and agrees with the update. `null`: it was not. `rows` are those
 * messages that a move names and that the document does not know.
 */
export function change(pending: Pending, rows: FoundRows): Statement<Written | null> {
  const { memoryId, update, folded, entryOf, attempt } = pending;
  const { expected, version, nextSeq, head, append, replace } = update;
  const set: Document = {
    version: literal(version),
    next: nextSeq,
    head: literal(head),
    updatedAt: "$$NOW",
    expiresAt: expiryOf(pending) ?? "$$REMOVE",
    apart: attempt === undefined ? undefined : true,
    attempts: [],
    // Whoever else is staging rows for the same version has lost.
    dead: { $concatArrays: ["$dead", lost(attempt)] },
  };
  const unset: string[] = [];
  const trash: unknown[] = [];
  /** What the document itself must hold. */
  const known: string[] = [];
  function put(seq: number, state: MessageState, entry: unknown): void {
    set[`${state === "live" ? "live" : "left"}.${seq}`] = entry;
    unset.push(`${state === "live" ? "left" : "live"}.${seq}`);
  }
  for (const message of [...folded.insert, ...folded.rewrite]) {
    const { seq, state } = message;
    put(seq, state, literal({ ...entryOf(message), s: state }));
  }
  for (const { seq } of folded.rewrite) trash.push(storedRow(seq));
  for (const { seq, state } of folded.setState) {
    const row = rows.get(seq);
    if (row === undefined) known.push(String(seq));
    const stored = { $ifNull: [`$live.${seq}`, `$left.${seq}`] };
    put(seq, state, {
      $mergeObjects: [row === undefined ? stored : literal(referenceTo(row)), { s: state }],
    });
  }
  for (const seq of folded.remove) {
    const row = rows.get(seq);
    if (row === undefined) known.push(String(seq));
    trash.push(row?._id ?? storedRow(seq));
    unset.push(`live.${seq}`, `left.${seq}`);
  }
  if (trash.length > 0) {
    const fresh = { $filter: { input: trash, cond: { $ne: ["$$this", null] } } };
    set.trash = { $concatArrays: ["$trash", fresh] };
  }
  const agrees = [present];
  if (known.length > 0) {
    const keys = { $objectToArray: { $mergeObjects: ["$live", "$left"] } };
    agrees.push({ $setIsSubset: [known, { $map: { input: keys, in: "$$this.k" } }] });
  }
  const filter: Document = {
    _id: memoryId,
    version: expected,
    next: { $lte: append[0]?.seq ?? nextSeq },
    attempts: attempt,
    ...Object.fromEntries(replace.map(({ seq, id }) => [`live.${seq}.i`, id])),
    $expr: { $and: agrees },
  };
  return alter(filter, [{ $set: set }, ...(unset.length > 0 ? [{ $unset: unset }] : [])], outcome);
}

/**
 * The common case of {@link change} at half of its cost: plain operators touch nothing but what they name, and the
 * server keeps no copy of the document for a repeated command, as it does for one that answers the document. `false`: the
 * memory is not as this expects, or something of it is to be settled first.
 */
export function append(pending: Pending): Statement<boolean> {
  const { memoryId, update, folded } = pending;
  const { expected, version, nextSeq, head } = update;
  const set: Document = { version, next: nextSeq, head };
  for (const message of folded.insert) {
    set[`${placeOf(message)}.${message.seq}`] = newEntry(pending, message);
  }
  const evicted = folded.setState.map(({ seq }) => seq);
  const filter: Document = {
    _id: memoryId,
    version: expected,
    next: { $lte: update.append[0]?.seq ?? nextSeq },
    // Others who stage rows for this version would have to be told that they have lost; and the next write settles
    // what an earlier one has left.
    ...Object.fromEntries(["attempts", ...leftovers].map((name) => [name, []])),
    live: { $type: "object" },
    left: { $type: "object" },
    ...Object.fromEntries(evicted.map((seq) => [`live.${seq}`, { $exists: true }])),
    $expr: { $and: [present, { $not: tooLarge }] },
  };
  const expiry = expiryOf(pending);
  const changed = expiry === undefined ? operators(set, evicted) : pipeline(set, evicted, expiry);
  return async ({ memories }) => (await memories.updateOne(filter, changed)).matchedCount === 1;
}

type Place = "live" | "left";

function placeOf({ state }: { readonly state: MessageState }): Place {
  return state === "live" ? "live" : "left";
}

function newEntry({ entryOf }: Pending, message: FoldedUpdate["insert"][number]): Entry {
  const { state } = message;
  return state === "live" ? entryOf(message) : { ...entryOf(message), s: state };
}

/** When the memory expires: `undefined`: never. */
function expiryOf({ ttlMs }: Pending): Document | undefined {
  return ttlMs === undefined ? undefined : { $add: ["$$NOW", ttlMs] };
}

/** The row of a message that the document knows, `null` if it has none. */
function storedRow(seq: number): Document {
  return { $ifNull: [`$live.${seq}.r`, `$left.${seq}.r`, null] };
}

/** Attempts that can be applied no more once that one is. */
function lost(attempt: string | undefined): Document {
  return without("$attempts", attempt === undefined ? [] : [attempt]);
}

function operators(set: Document, evicted: readonly number[]): Document {
  const names = evicted.map((seq) => [`live.${seq}`, `left.${seq}`]);
  return {
    $set: set,
    $rename: names.length === 0 ? undefined : Object.fromEntries(names),
    $unset: { expiresAt: "" },
    $currentDate: { updatedAt: true },
  };
}

/** The same; only a pipeline can reckon with the server's clock. */
function pipeline(set: Document, evicted: readonly number[], expiresAt: Document): Document[] {
  const values = Object.entries(set).map(([path, value]) => [path, literal(value)]);
  const moved = evicted.map((seq) => [`left.${seq}`, `$live.${seq}`]);
  const fields = { ...Object.fromEntries([...values, ...moved]), updatedAt: "$$NOW", expiresAt };
  const names = evicted.map((seq) => `live.${seq}`);
  return [{ $set: fields }, ...(names.length === 0 ? [] : [{ $unset: names }])];
}
