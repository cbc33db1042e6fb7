import type { NormalHistoryQuery } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import type { Collections } from "./client.ts";
import {
  anArray,
  batch,
  type Entry,
  expired,
  type FoundRow,
  fields,
  formerLives,
  literal,
  type MemoryDocument,
  present,
  type RowDocument,
  type Written,
  without,
} from "./documents.ts";

/** One step against the database; nothing but the id of a memory and the conditions in it ties it to others. */
export type Statement<Answer> = (collections: Collections) => Promise<Answer>;

/** How long an attempt to begin a memory may take, by the server's clock. */
const attemptLastsMs = 60 * 60 * 1000;

/** Without its messages where it is at the version that is known. */
export function read(memoryId: string, known: string | undefined): Statement<MemoryDocument | null> {
  const isKnown = { $eq: ["$version", { $literal: known ?? null }] };
  const live = known === undefined ? 1 : { $cond: [isKnown, "$$REMOVE", "$live"] };
  return headOf(memoryId, { ...fields("life", "version", "next", "owner", "head"), live });
}

/** Everything that the memory's document knows of its history. */
export function ledger(memoryId: string): Statement<MemoryDocument | null> {
  return headOf(memoryId, fields("life", "version", "next", "live", "left", "trash", "apart", "dropped"));
}

function headOf(memoryId: string, projection: Document): Statement<MemoryDocument | null> {
  return ({ memories, reading }) =>
    memories.findOne({ _id: memoryId, $expr: present }, { ...reading, projection });
}

/** Changes when rows of the life were deleted. */
export function mark(memoryId: string, life: string): Statement<MemoryDocument | null> {
  return ({ memories }) => memories.findOne({ _id: memoryId, life }, { projection: fields("dropped") });
}

/** Those rows that are there. */
export function rows(ids: readonly string[]): Statement<RowDocument[]> {
  return ({ messages }) => messages.find({ _id: { $in: [...ids] } }).toArray();
}

/** Rows of a life that count by themselves. One beyond the limit: there is more. */
export function history(
  life: string,
  { after, before, order, limit, states, ids }: NormalHistoryQuery,
  except: readonly string[],
): Statement<(RowDocument & FoundRow)[]> {
  const filter: Document = {
    life,
    seq: { $gt: after, $lt: before },
    state: { $in: states.filter((state) => state !== "live") },
    _id: { $nin: except },
    i: ids && { $in: ids },
  };
  const sort = { seq: order === "ascending" ? 1 : -1 } as const;
  const options = { hint: ids === undefined ? "seq" : "id", sort, limit: limit + 1 };
  return ({ messages }) => messages.find<RowDocument & FoundRow>(filter, options).toArray();
}

/** Which of these messages have rows that count by themselves. */
export function find(
  life: string,
  seqs: readonly number[],
  except: readonly string[],
): Statement<FoundRow[]> {
  const filter: Document = { life, seq: { $in: seqs }, state: { $ne: "staged" }, _id: { $nin: except } };
  const options = { hint: "seq", projection: fields("seq", "i", "a", "state") };
  return ({ messages }) => messages.find<FoundRow>(filter, options).toArray();
}

/** Announces an attempt that stages rows. `null`: it cannot be applied. */
export function open(memoryId: string, expected: string | null, attempt: string): Statement<Written | null> {
  if (expected !== null) {
    const filter = { _id: memoryId, version: expected, $expr: present };
    const announce = { $push: { attempts: attempt } };
    return ({ memories }) => memories.findOneAndUpdate(filter, announce, { projection: fields("life") });
  }
  const empty = {
    _id: "$_id",
    former: formerLives,
    attempts: { $concatArrays: [anArray("$attempts"), [attempt]] },
    dead: anArray("$dead"),
    expiresAt: { $add: ["$$NOW", attemptLastsMs] },
  };
  const begin = alter<MemoryDocument>({ _id: memoryId }, replaceAbsent(empty), fields("attempts"), true);
  return async (collections) =>
    (await begin(collections))?.attempts?.includes(attempt) ? { life: attempt } : null;
}

/** Puts a document in the place of one that is no memory. */
export function replaceAbsent(document: Document): Document[] {
  return [{ $replaceWith: { $cond: [present, "$$ROOT", document] } }];
}

/** Changes a memory's document by one command, and answers of it what the projection says. */
export function alter<Answer>(
  filter: Document,
  pipeline: Document[],
  projection: Document,
  upsert = false,
): Statement<Answer | null> {
  const options = { upsert, returnDocument: "after", projection } as const;
  return ({ memories }) => memories.findOneAndUpdate(filter, pipeline, options) as Promise<Answer | null>;
}

export function insert(rows: readonly RowDocument[]): Statement<unknown> {
  return ({ messages }) => messages.insertMany([...rows], { ordered: false });
}

/** Removes rows. */
export function drop(rows: readonly string[]): Statement<number> {
  return dropWhere({ _id: { $in: rows } });
}

/** Removes rows of an attempt, unless it was applied after all and settled. */
export function discard(rows: readonly string[]): Statement<number> {
  return dropWhere({ _id: { $in: rows }, state: "staged" });
}

/** Removes what attempts staged that were not applied. */
export function discardAttempts(attempts: readonly string[], except: readonly string[]): Statement<number> {
  return dropWhere({ attempt: { $in: attempts }, state: "staged", _id: { $nin: except } });
}

/** Removes the rows of lives that are over. */
export function bury(lives: readonly string[]): Statement<number> {
  return dropWhere({ life: { $in: lives } });
}

function dropWhere(filter: Document): Statement<number> {
  return async ({ messages }) => (await messages.deleteMany(filter)).deletedCount;
}

/** Which life a memory has, expired ones and attempts to begin one too. */
export function peek(memoryId: string): Statement<MemoryDocument | null> {
  const projection = fields("life", "former", "apart");
  return ({ memories }) => memories.findOne({ _id: memoryId }, { projection });
}

/** Removes that life of a memory and no other. */
export function remove({ _id, life }: MemoryDocument, only?: "expired"): Statement<MemoryDocument | null> {
  const filter: Document = { _id, life: life ?? null, ...(only && expired) };
  return ({ memories }) => memories.findOneAndDelete(filter, { projection: fields("life") });
}

/** In the order of their ids, after that one. One beyond the limit: there is more. */
export function list(owner: string | undefined, after: string, limit: number): Statement<MemoryDocument[]> {
  const filter: Document = { _id: { $gt: after }, owner, $expr: present };
  const hint = owner === undefined ? "_id_" : "owner";
  const projection = fields("owner", "updatedAt");
  return ({ memories }) =>
    memories.find(filter, { hint, sort: { _id: 1 }, limit: limit + 1, projection }).toArray();
}

/** Expired memories after that id, and attempts to begin one that took too long. */
export function overdue(after: string): Statement<MemoryDocument[]> {
  const filter: Document = { ...expired, _id: { $gt: after } };
  const options = { sort: { _id: 1 }, limit: batch, projection: fields("life", "former") } as const;
  return ({ memories }) => memories.find(filter, options).toArray();
}

/** A life after that one, of which there are rows. */
export function lifeAfter(life: string): Statement<Pick<RowDocument, "life" | "memory"> | null> {
  const options = { hint: "seq", sort: { life: 1 }, projection: fields("life", "memory") } as const;
  return ({ messages }) => messages.findOne({ life: { $gt: life } }, options);
}

export function staged(life: string): Statement<Pick<RowDocument, "_id" | "attempt">[]> {
  const options = { hint: "seq", projection: fields("attempt") };
  return ({ messages }) => messages.find({ life, state: "staged" }, options).toArray();
}

/**
 * Takes back what was announced, so that those attempts can be applied no more, and answers what the document says
 * then. A write even where it changes nothing: its acknowledgement tells that a majority holds this state.
 */
export function revoke(memoryId: string, attempts: readonly string[]): Statement<MemoryDocument | null> {
  const set = { attempts: without("$attempts", attempts), stows: without("$stows", attempts) };
  return alter({ _id: memoryId }, [{ $set: set }], fields("life", "live", "left", "trash"));
}

/** What there is to settle, as a majority holds it: how large its document is, and by which one stow. */
export type Claimed = MemoryDocument & { readonly size: number };

/** Announces who settles. Others who settle can no more. */
export function claim(memoryId: string, life: string, stow: string): Statement<Claimed | null> {
  const dead = { $concatArrays: ["$dead", "$stows"] };
  const pipeline = [{ $set: { gen: { $add: ["$gen", 1] }, dead, stows: [stow] } }];
  const names = fields("version", "live", "left", "trash", "former", "dead", "gen", "stows");
  return alter({ _id: memoryId, life }, pipeline, { ...names, size: { $bsonSize: "$$ROOT" } });
}

/** Puts rows in the place of contents. */
export function stow(claimed: Claimed, entries: ReadonlyMap<string, Entry>): Statement<boolean> {
  const set: Document = { apart: true };
  for (const [path, entry] of entries) set[path] = literal(entry);
  return whileClaimed(claimed, [{ $set: set }]);
}

/** Rows say themselves that they left; one that settles late changes nothing. */
export function setState(rows: readonly string[], state: FoundRow["state"], gen: number): Statement<unknown> {
  const filter: Document = { _id: { $in: rows }, gen: { $lt: gen } };
  return ({ messages }) => messages.updateMany(filter, { $set: { state, gen } });
}

/** Forgets what was settled. */
export function settled(claimed: Claimed, left: readonly string[]): Statement<boolean> {
  const { trash = [], former = [], dead = [], stows } = claimed;
  const set: Document = {
    trash: without("$trash", trash),
    former: without("$former", former),
    dead: without("$dead", dead),
    stows: [],
    dropped: trash.length > 0 ? literal(stows?.[0]) : undefined,
  };
  const forget = left.length > 0 ? [{ $unset: left.map((seq) => `left.${seq}`) }] : [];
  return whileClaimed(claimed, [{ $set: set }, ...forget]);
}

/** `false`: somebody else has changed the memory, or settles it. */
function whileClaimed({ _id, version, stows }: Claimed, pipeline: Document[]): Statement<boolean> {
  return async ({ memories }) =>
    (await memories.updateOne({ _id, version, stows } as Document, pipeline)).matchedCount === 1;
}
