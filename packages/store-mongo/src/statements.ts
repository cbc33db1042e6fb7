import { errorCode, type NormalHistoryQuery, type NormalListQuery } from "@turnkeep/core/store-kit";
import type { Document, FindOptions } from "mongodb";
import type { DocumentChange } from "./changes.ts";
import type { Collections } from "./client.ts";
import {
  type Activity,
  atVersion,
  expired,
  type MemoryDocument,
  present,
  type RowDocument,
  tooLarge,
} from "./documents.ts";
import { newLife, placeOf } from "./records.ts";
import { isBroken } from "./refusals.ts";

/** One command. It needs no session: its conditions alone make it safe to run concurrently. */
export type Statement<Answer> = (collections: Collections) => Promise<Answer>;

/**
 * How long a read waits before it is made again: by the next task the driver knows of its other connections that have
 * broken, too, or, where the process was busy, soon after.
 */
const pausesMs = [0, 50];

/** A statement that changes nothing: it is made again if it met a connection that had broken. */
export function reading<Answer>(statement: Statement<Answer>): Statement<Answer> {
  return async (collections) => {
    for (const pauseMs of pausesMs) {
      try {
        return await statement(collections);
      } catch (cause) {
        if (!isBroken(cause)) throw cause;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    return statement(collections);
  };
}

/** The least time that an attempt to begin a memory is kept. */
const attemptLastsMs = 60 * 60 * 1000;

/** What a write notes beside its change, when it is sent. */
export interface Times {
  /** How long the memory lives then; `undefined`: for ever. */
  readonly ttlMs: number | undefined;
  activity(): Activity;
}

const lifeFields = { life: 1, generation: 1 };
const mapFields = { live: 1, evicted: 1, superseded: 1 };
/** All that the document knows of its messages and their rows. */
const ledgerFields = { ...lifeFields, ...mapFields, version: 1, next: 1, trash: 1, staging: 1, tooLarge };
const answersLedger = { returnDocument: "after", projection: ledgerFields } as const;

/** Leaves out the messages if the memory is at the known version. */
export function read(memoryId: string, known: string | undefined): Statement<MemoryDocument | null> {
  const isKnown = { $eq: ["$version", { $literal: known ?? null }] };
  const live = known === undefined ? 1 : { $cond: [isKnown, "$$REMOVE", "$live"] };
  return head(memoryId, { version: 1, next: 1, owner: 1, head: 1, data: 1, live });
}

export function ledger(memoryId: string): Statement<MemoryDocument | null> {
  return head(memoryId, ledgerFields);
}

export function head(memoryId: string, projection: Document): Statement<MemoryDocument | null> {
  return reading(({ memories, concern }) =>
    memories.findOne({ _id: memoryId, $expr: present }, { ...concern, projection }),
  );
}

export function rows(filter: Document, options: FindOptions = {}): Statement<RowDocument[]> {
  return reading(({ messages }) => messages.find(filter, options).toArray());
}

/** Rows that count by themselves. One more than the limit means that there are more. */
export function history(
  life: string,
  { after, before, order, limit, states, ids }: NormalHistoryQuery,
  except: readonly string[],
): Statement<RowDocument[]> {
  const filter = {
    life,
    seq: { $gt: after, $lt: before },
    i: ids && { $in: ids },
    _id: { $nin: except },
    state: { $in: states.filter((state) => state !== "live") },
  };
  const hint = ids === undefined ? "seq" : "id";
  return rows(filter, { hint, sort: { seq: order === "ascending" ? 1 : -1 }, limit: limit + 1 });
}

/** Announces an attempt that stages rows, and returns the ledger then. `null`: the memory is at another version. */
export function announce(
  memoryId: string,
  expected: string | null,
  attempt: string,
): Statement<MemoryDocument | null> {
  const options = { ...answersLedger, upsert: expected === null };
  // Nobody else sees this document before the memory begins, so the client's clock is enough.
  const expiresAt = expected === null ? new Date(Date.now() + attemptLastsMs) : undefined;
  const changed: Document = {
    $push: { staging: attempt },
    $max: { generation: 1, expiresAt },
    $setOnInsert: { life: newLife(memoryId), live: {}, evicted: {}, superseded: {}, trash: [] },
  };
  const filter = atVersion(memoryId, expected);
  return ({ memories }) => memories.findOneAndUpdate(filter, changed, options).catch(nullIfTaken);
}

/** Makes the change of an update. `false`: the memory is not as its writer believes. */
export function write(change: DocumentChange, { ttlMs, activity }: Times): Statement<boolean> {
  const { filter, upsert } = change;
  return async ({ memories }) => {
    const active = activity();
    const changed = ttlMs === undefined ? operators(change, active) : pipeline(change, active, ttlMs);
    const options = upsert ? { upsert } : {};
    const written = await memories.updateOne(filter, changed, options).catch(nullIfTaken);
    return written !== null && written.matchedCount + written.upsertedCount === 1;
  };
}

/** Plain operators touch only what they name. */
function operators({ set, rename, unset, trash, attempt }: DocumentChange, active: Activity): Document {
  return {
    $set: set,
    $max: { active },
    $rename: Object.keys(rename).length === 0 ? undefined : rename,
    $unset: Object.fromEntries(["expiresAt", ...unset].map((path) => [path, ""])),
    $push: trash.length === 0 ? undefined : { trash: { $each: trash } },
    $pull: attempt === undefined ? undefined : { staging: attempt },
    $currentDate: { updatedAt: true },
  };
}

/** The same as a pipeline, which alone can add to the server's clock. Values are taken literally. */
function pipeline(
  { set, rename, unset, trash, attempt }: DocumentChange,
  active: Activity,
  ttlMs: number,
): Document[] {
  const values = Object.entries(set).filter(([, value]) => value !== undefined);
  const changed: Document = {
    ...Object.fromEntries(values.map(([path, $literal]) => [path, { $literal }])),
    ...Object.fromEntries(Object.entries(rename).map(([from, to]) => [to, `$${from}`])),
    ...Object.fromEntries([...unset, ...Object.keys(rename)].map((path) => [path, "$$REMOVE"])),
    ...(trash.length > 0 && { trash: { $concatArrays: ["$trash", trash] } }),
    ...(attempt !== undefined && { staging: { $setDifference: ["$staging", [attempt]] } }),
    active: { $max: ["$active", active] },
    updatedAt: "$$NOW",
    expiresAt: { $add: ["$$NOW", ttlMs] },
  };
  return [{ $set: changed }];
}

/** `null` if somebody else created the document, or an expired memory still occupies its place. */
function nullIfTaken(cause: unknown): null {
  if (errorCode(cause) === "11000") return null;
  throw cause;
}

export function insert(rows: readonly RowDocument[]): Statement<unknown> {
  return ({ messages }) => messages.insertMany([...rows], { ordered: false });
}

/** Rows of a life, without their contents. */
export function someRows(life: string, limit: number): Statement<Pick<RowDocument, "_id">[]> {
  return rows({ life }, { hint: "seq", projection: { _id: 1 }, limit });
}

/** Removes rows that no longer count: of an attempt that has failed, or of a life that is over. */
export function discard(life: string, rows: readonly Pick<RowDocument, "_id">[]): Statement<number> {
  return drop(life, { _id: { $in: rows.map(({ _id }) => _id) } });
}

/**
 * Removes those rows of a life that match one of the filters; returns how many. Whatever changes several rows names the
 * life: what a sharded cluster sends to several shards may miss rows that are being moved from one to another.
 */
export function drop(life: string, ...which: readonly Document[]): Statement<number> {
  const filters: Document[] = which.map((one) => ({ life, ...one }));
  const filter = filters.length > 1 ? { $or: filters } : { life, ...filters[0] };
  return async ({ messages }) => (await messages.deleteMany(filter)).deletedCount;
}

/** The life and generation of a memory, also of an expired one or an attempt to begin one. */
export function peek(memoryId: string): Statement<MemoryDocument | null> {
  return reading(({ memories }) => memories.findOne({ _id: memoryId }, { projection: lifeFields }));
}

/** The ids of some expired memories: before MongoDB 7, a sharded cluster removes a single document only by its key. */
export function someExpired(): Statement<string[]> {
  const options = { projection: { _id: 1 }, limit: 100 } as const;
  return reading(async ({ memories }) =>
    (await memories.find(expired, options).toArray()).map(({ _id }) => _id),
  );
}

/** Removes a memory's document if it matches the filter; returns the document. */
export function remove(filter: Document): Statement<MemoryDocument | null> {
  return ({ memories }) => memories.findOneAndDelete(filter, { projection: lifeFields });
}

/** The index in the order of that name and its keys, and the one that begins with the owner. */
const orders = {
  stored: { all: "_id_", owned: "owner", sort: { _id: 1 } },
  newest: { all: "newest", owned: "owner_newest", sort: { "active.s": -1, "active.r": 1, _id: 1 } },
} as const;

/** The pages of a listing. One more than the limit means that there are more. */
export function list({ owner, order, after, limit }: NormalListQuery): Statement<MemoryDocument[]> {
  const { all, owned, sort } = orders[order];
  const hint = owner === undefined ? all : owned;
  const ranges = order === "newest" ? rangesAfter(after) : [{ _id: { $gt: after ?? "" } }];
  // With the owner in each range, the server reads each from the index in its order, and merges them.
  const owns = ranges.map((range) => ({ ...range, owner }));
  const filter: Document = { ...(owns.length === 1 ? owns[0] : { $or: owns }), $expr: present };
  const projection = { owner: 1, updatedAt: 1, data: 1, active: 1 };
  return reading(({ memories }) =>
    memories.find(filter, { hint, sort, limit: limit + 1, projection }).toArray(),
  );
}

/** What follows a place in the order `newest`. Last come memories whose activity was never noted, or cannot be read. */
function rangesAfter(position: string | undefined): Document[] {
  if (position === undefined) return [{}];
  const { s, r, _id } = placeOf(position);
  if (s === undefined) return [{ "active.s": null, "active.r": null, _id: { $gt: _id } }];
  return [
    { "active.s": s, "active.r": r, _id: { $gt: _id } },
    { "active.s": s, "active.r": { $gt: r } },
    { "active.s": { $lt: s } },
    { "active.s": null },
  ];
}

/** The next life that has rows. */
export function lifeAfter(life: string): Statement<Pick<RowDocument, "life" | "memory"> | null> {
  const options = { hint: "seq", sort: { life: 1 }, projection: { life: 1, memory: 1 } } as const;
  return reading(({ messages }) => messages.findOne({ life: { $gt: life } }, options));
}

/** Raises the generation: attempts and other settlers can no longer change the document. `null`: the life is over. */
export function claim(memoryId: string, life: string): Statement<MemoryDocument | null> {
  const filter: Document = { _id: memoryId, life };
  return ({ memories }) => memories.findOneAndUpdate(filter, { $inc: { generation: 1 } }, answersLedger);
}

/** Changes a claimed document. `false`: somebody else changed or claimed the memory. */
export function whileClaimed(claimed: MemoryDocument, changed: Document): Statement<boolean> {
  const { _id, version, generation } = claimed;
  const filter: Document = { _id, version: version ?? { $exists: false }, generation };
  return async ({ memories }) => (await memories.updateOne(filter, changed)).matchedCount === 1;
}

/** Makes rows of a life say themselves that they left, unless a later settler has done so. */
export function setState(
  life: string,
  rows: readonly string[],
  state: RowDocument["state"],
  generation: number,
): Statement<unknown> {
  const filter: Document = { life, _id: { $in: rows }, generation: { $lte: generation } };
  const changed = { $set: { state, generation } };
  return ({ messages }) => messages.updateMany(filter, changed, { hint: "_id_" });
}
