import type { MemoryUpdate, StoredMessage } from "@turnkeep/core";
import type { FoldedUpdate } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import { batch, type Entry, present, type Statement, tooLarge } from "./documents.ts";

/** Whether {@link append} can make the change: new messages, and live ones that are evicted. */
export function isAppend({ rewrite, setState, remove }: FoldedUpdate): boolean {
  return (
    rewrite.length === 0 &&
    remove.length === 0 &&
    setState.length <= batch &&
    setState.every(({ state }) => state === "evicted")
  );
}

/**
 * The common case of `change` at half of its cost: plain operators touch nothing but what they name, and the server
 * keeps no copy of the document for a repeated command, as it does for one that answers the document. `false`: the
 * memory is not as this expects, or something of it is to be settled first.
 */
export function append(
  memoryId: string,
  { expected, version, nextSeq, head, append: [first] }: MemoryUpdate,
  { insert, setState }: FoldedUpdate,
  entryOf: (message: StoredMessage) => Entry,
  ttlMs: number | undefined,
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
    // Others who stage rows for this version would have to be told that they have lost.
    attempts: [],
    live: { $type: "object" },
    left: { $type: "object" },
    ...Object.fromEntries(seqs.map((seq) => [`live.${seq}`, { $exists: true }])),
    $expr: { $and: [present, { $not: tooLarge }] },
  };
  return async ({ memories }) => {
    const { matchedCount } = await memories.updateOne(
      filter,
      ttlMs === undefined ? operators(set, seqs) : pipeline(set, seqs, ttlMs),
    );
    return matchedCount === 1;
  };
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
function pipeline(set: Document, evicted: readonly number[], ttlMs: number): Document[] {
  const literals = Object.entries(set).map(([path, value]) => [path, { $literal: value }]);
  const moved = evicted.map((seq) => [`left.${seq}`, `$live.${seq}`]);
  const fields = {
    ...Object.fromEntries([...literals, ...moved]),
    updatedAt: "$$NOW",
    expiresAt: { $add: ["$$NOW", ttlMs] },
  };
  const names = evicted.map((seq) => `live.${seq}`);
  return [{ $set: fields }, ...(names.length === 0 ? [] : [{ $unset: names }])];
}
