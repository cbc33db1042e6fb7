import { errorCode, laterVersionError, notReadyError, show, TurnkeepError } from "@turnkeep/core/store-kit";
import type { Collections } from "./client.ts";
import { storeName } from "./refusals.ts";
import { ledger, read, reading, type Statement } from "./statements.ts";

/** The number of the newest step. A released step never changes. */
const newest = 1;

const record = "collections";

/**
 * Errors about an operator or a variable that the server does not have: MongoDB's own, and those of services that speak
 * its protocol.
 */
const notThere = new Set(["9", "115", "168", "238", "303", "304", "15983", "17276", "31325", "40324"]);
const unauthorized = "13";
/** Errors about an index that somebody else has made, or about a collection that takes none. */
const inTheWay = new Set(["67", "85", "86", "166"]);

/** Whether `migrate` has run: one read, repeated by the store until the answer is yes. */
export const migrated: Statement<boolean> = reading(async ({ migrations }) => {
  const found = await migrations.findOne({ _id: record });
  return typeof found?.number === "number" && found.number >= newest;
});

/**
 * Creates the indexes. Safe to run twice and concurrently: the server does not recreate an existing index. The number
 * is written last, so a store with missing indexes is not ready. Where it has run, it makes what somebody has dropped.
 */
export const migrate: Statement<void> = (collections) => prepare(collections).catch(explained);

async function prepare(collections: Collections): Promise<void> {
  const { migrations } = collections;
  const found = await migrations.findOne({ _id: record });
  if (found !== null && found.number > newest) {
    throw laterVersionError(storeName, "the collections", "@turnkeep/store-mongo");
  }
  if (found?.number === newest) {
    // An application may call it without the right to, since nearly always nothing is to be done.
    await first(collections).catch((cause: unknown) => {
      if (errorCode(cause) !== unauthorized) throw cause;
    });
    return;
  }
  await checkServer(collections);
  await first(collections);
  await migrations.updateOne({ _id: record }, { $max: { number: newest } }, { upsert: true });
}

/** Reads as every call does, and finds nothing: a server that lacks an operator says so before anything is made. */
async function checkServer(collections: Collections): Promise<void> {
  await read("", "")(collections);
  await ledger("")(collections);
}

/** A server or a user that lacks something is told in Turnkeep's words, the rest unchanged. */
function explained(cause: unknown): never {
  const code = errorCode(cause);
  let lacks: string | undefined;
  if (notThere.has(code)) {
    lacks =
      "the server lacks an operator of MongoDB 4.4 (see the cause): use MongoDB itself, of that version or later, not a service that only speaks its protocol";
  } else if (code === unauthorized) {
    lacks =
      "this user may not prepare the collections (see the cause): grant it the role readWrite on the database, or call migrate() as a user that has it";
  } else if (inTheWay.has(code)) {
    const which = /name: "?([\w.]+)/.exec((cause as Error).message)?.[1];
    const index = which === undefined ? "an index" : `the index ${show(which)}`;
    lacks = `${index} cannot be made (see the cause): drop what stands in its way, or choose another prefix`;
  }
  if (lacks === undefined) throw cause;
  throw new TurnkeepError("STORE_NOT_READY", `${storeName}: ${lacks}`, { cause });
}

async function first({ memories, messages }: Collections): Promise<void> {
  await memories.createIndexes([
    { key: { owner: 1, _id: 1 }, name: "owner", partialFilterExpression: { owner: { $exists: true } } },
    { key: { expiresAt: 1 }, name: "expiry", expireAfterSeconds: 0 },
  ]);
  await messages.createIndexes([
    { key: { life: 1, seq: 1 }, name: "seq" },
    { key: { life: 1, i: 1 }, name: "id" },
    { key: { life: 1, generation: 1 }, name: "staged", partialFilterExpression: { state: "staged" } },
  ]);
  for (const collection of [memories, messages]) {
    // A collection with a collation could treat two ids as one.
    const { collation } = await collection.options();
    if (collation !== undefined && collation.locale !== "simple") {
      throw notReadyError(storeName, `the simple collation of ${collection.collectionName}`);
    }
  }
}
