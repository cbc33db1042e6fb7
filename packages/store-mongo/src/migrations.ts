import { laterVersionError, notReadyError } from "@turnkeep/core/store-kit";
import { type Collections, storeName } from "./client.ts";
import type { Statement } from "./statements.ts";

/** The number of the newest step. A released step never changes. */
const newest = 1;

const record = "collections";

/** Whether `migrate` has run: one read, repeated by the store until the answer is yes. */
export const migrated: Statement<boolean> = async ({ migrations }) => {
  const found = await migrations.findOne({ _id: record });
  return typeof found?.number === "number" && found.number >= newest;
};

/**
 * Creates the indexes. Safe to run twice and concurrently: the server does not recreate an existing index. The number
 * is written last, so a store with missing indexes is not ready.
 */
export const migrate: Statement<void> = async (collections) => {
  const { migrations } = collections;
  const found = await migrations.findOne({ _id: record });
  if (found !== null && found.number > newest) {
    throw laterVersionError(storeName, "the collections", "@turnkeep/store-mongo");
  }
  if (found?.number === newest) return;
  await first(collections);
  await migrations.updateOne({ _id: record }, { $max: { number: newest } }, { upsert: true });
};

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
