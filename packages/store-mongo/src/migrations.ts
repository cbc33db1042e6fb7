import { errorCode, laterVersionError, notReadyError, refusalOf, show } from "@turnkeep/core/store-kit";
import type { Collections } from "./client.ts";
import { storeName } from "./refusals.ts";
import { ledger, read, reading, type Statement } from "./statements.ts";

/** The number of the newest step. A released step never changes. */
const newest = 2;

const record = "collections";

const unauthorized = "13";

/**
 * Whether `migrate` has run: one read, repeated by the store until it has. Then the answer is how many milliseconds the
 * server's clock is ahead of ours, which costs no more to ask for.
 */
export const migrated: Statement<number | undefined> = reading(async ({ migrations }) => {
  const projection = { number: 1, now: "$$NOW" };
  const stored = await migrations.findOne({ _id: record }, { projection });
  const isReady = typeof stored?.number === "number" && stored.number >= newest;
  return isReady ? (stored.now?.getTime() ?? Date.now()) - Date.now() : undefined;
});

/**
 * Creates the indexes. Safe to run twice and concurrently: the server does not recreate an existing index. The number
 * is written last, so a store with missing indexes is not ready. Where it has run, it makes what somebody has dropped.
 */
export const migrate: Statement<void> = (collections) => prepare(collections).catch(explained);

async function prepare(collections: Collections): Promise<void> {
  const { migrations } = collections;
  const stored = await migrations.findOne({ _id: record });
  if (stored !== null && stored.number > newest) {
    throw laterVersionError(storeName, "the collections", "@turnkeep/store-mongo");
  }
  if (stored?.number === newest) {
    // An application may call it without the right to, since nearly always nothing is to be done.
    await steps(collections).catch((cause: unknown) => {
      if (errorCode(cause) !== unauthorized) throw cause;
    });
    return;
  }
  await checkServer(collections);
  await steps(collections);
  await migrations.updateOne({ _id: record }, { $max: { number: newest } }, { upsert: true });
}

/** Reads as every call does, and finds nothing: a server that lacks an operator says so before anything is made. */
async function checkServer(collections: Collections): Promise<void> {
  await read("", "")(collections);
  await ledger("")(collections);
}

/** A server or a user that lacks something is told in Turnkeep's words, the rest unchanged. */
function explained(cause: unknown): never {
  const name = /name: "?([\w.]+)/.exec((cause as Error).message)?.[1];
  const index = name === undefined ? "an index" : `the index ${show(name)}`;
  const unfit = [
    [
      // Of an operator or a variable, in the codes of MongoDB itself and of services that speak its protocol.
      /^(?:9|115|168|238|303|304|15983|17276|31325|40324)$/,
      "the server lacks an operator of MongoDB 4.4 (see the cause): use MongoDB itself, of that version or later, not a service that only speaks its protocol",
    ],
    [
      new RegExp(`^${unauthorized}$`),
      "this user may not prepare the collections (see the cause): grant it the role readWrite on the database, or call migrate() as a user that has it",
    ],
    [
      // Of an index that somebody else has made, or a collection that takes none.
      /^(?:67|85|86|166)$/,
      `${index} cannot be made (see the cause): drop what stands in its way, or choose another prefix`,
    ],
  ] as const;
  throw refusalOf(storeName, { unfit }, cause) ?? cause;
}

async function steps(collections: Collections): Promise<void> {
  await first(collections);
  await second(collections);
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

/** The order `newest`. A memory that an earlier release begins later has no activity noted, and comes last until it is written to. */
async function second({ memories }: Collections): Promise<void> {
  const byActivity = { "active.s": -1, "active.r": 1, _id: 1 } as const;
  const partialFilterExpression = { owner: { $exists: true } };
  await memories.createIndexes([
    { key: byActivity, name: "newest" },
    { key: { owner: 1, ...byActivity }, name: "owner_newest", partialFilterExpression },
  ]);
  // By the index, so that nothing is looked at where nothing is to be done.
  const unnoted = { "active.s": null, updatedAt: { $type: "date" } } as const;
  // By the default of `activityMs`.
  const since = { $mod: [{ $toLong: "$updatedAt" }, 60_000] };
  const active = { s: { $subtract: ["$updatedAt", since] }, r: { $subtract: [0, since] } };
  await memories.updateMany(unnoted, [{ $set: { active } }], { hint: "newest" });
}
