import { createHash } from "node:crypto";
import { BSON, type Db, type Document, type MongoClient as Driver } from "mongodb";
import type { MongoClient } from "../src/index.ts";

type Key = "_id" | "life";

/** What a collection is split by; the others are whole, on the first shard. */
const keys: Readonly<Record<string, Key>> = { turnkeep_memories: "_id", turnkeep_messages: "life" };

/**
 * A client that keeps the two collections on two shards, each a database of its own, by a hash of the key, as a `mongos` does: it
 * sends on what names one key, asks both shards otherwise, and merges their answers in the order that was asked for. It refuses
 * what MongoDB 6 refuses there: an upsert, `findAndModify` or a document to insert without the key, and a change of one document
 * without the key or `_id`. Stricter than a `mongos`, it refuses changes of several documents without the key, which may miss
 * some that are being moved.
 */
export function sharded(shards: readonly Driver[]): MongoClient {
  return {
    db: (name) => ({
      collection: (collection, options) =>
        collectionOf(
          shards.map((client, index) => client.db(`${name}-${index}`)),
          collection,
          options,
        ),
    }),
  };
}

/** The shard that has the documents of that key. */
export function shardOf(key: string, count: number): number {
  return (createHash("md5").update(key).digest()[0] ?? 0) % count;
}

function collectionOf(databases: readonly Db[], name: string, options: object): object {
  const all = databases.map((db) => db.collection<Document>(name, options));
  const [first] = all;
  const key = keys[name];
  if (first === undefined || key === undefined) return first ?? {};

  /** The shards that a filter leads to. */
  function targets(filter: Document): typeof all {
    const named = ((filter.$or as Document[] | undefined) ?? [filter]).map((part) => equal(part[key as Key]));
    const places = new Set(named.map((value) => value && shardOf(value, all.length)));
    return places.has(undefined) ? all : all.filter((_, index) => places.has(index));
  }

  function one(filter: Document, what: string): (typeof all)[number] {
    const [target, ...others] = targets(filter);
    if (target === undefined || others.length > 0) throw new Error(`${what} must name ${key} on ${name}`);
    return target;
  }

  async function found(filter: Document, given: Document): Promise<Document[]> {
    const answers = await Promise.all(targets(filter).map((target) => target.find(filter, given).toArray()));
    const documents = answers.flat();
    if (given.sort !== undefined && answers.length > 1) documents.sort(inOrder(given.sort));
    return documents.slice(0, given.limit || undefined);
  }

  async function summed(
    filter: Document,
    what: string,
    change: (target: (typeof all)[number]) => Promise<object>,
  ): Promise<object> {
    return change(one(filter, what));
  }

  return {
    collectionName: name,
    options: () => first.options(),
    createIndexes: (indexes: never) => Promise.all(all.map((target) => target.createIndexes(indexes))),
    find: (filter: Document, given: Document = {}) => ({ toArray: () => found(filter, given) }),
    findOne: async (filter: Document, given: Document = {}) =>
      (await found(filter, { ...given, limit: 1 }))[0] ?? null,
    findOneAndUpdate: async (filter: Document, change: Document, given: object) =>
      one(filter, "findAndModify").findOneAndUpdate(filter, change, given),
    findOneAndDelete: async (filter: Document, given: object) =>
      one(filter, "findAndModify").findOneAndDelete(filter, given),
    updateOne: (filter: Document, change: Document, given: object = {}) =>
      summed(filter, "updateOne", (target) => target.updateOne(filter, change, given)),
    updateMany: async (filter: Document, change: Document[] | Document, given: object = {}) => {
      // That of `migrate()`: whatever it misses is listed last until it is written to.
      if (name === "turnkeep_memories") return first.updateMany(filter, change, given);
      return summed(filter, "updateMany", (target) => target.updateMany(filter, change, given));
    },
    deleteMany: (filter: Document) => summed(filter, "deleteMany", (target) => target.deleteMany(filter)),
    insertMany: async (documents: Document[], given: object) => {
      for (const [index, target] of all.entries()) {
        const own = documents.filter((one) => shardOf(String(one[key]), all.length) === index);
        if (documents.some((one) => typeof one[key] !== "string")) throw new Error(`insert must name ${key}`);
        if (own.length > 0) await target.insertMany(own, given);
      }
    },
  };
}

/** The value that a condition is equal to. */
function equal(condition: unknown): string | undefined {
  const value = (condition as { $eq?: unknown } | undefined)?.$eq ?? condition;
  return typeof value === "string" ? value : undefined;
}

/** As MongoDB orders missing values, numbers, texts and dates. */
function inOrder(sort: Record<string, 1 | -1>): (a: Document, b: Document) => number {
  return (a, b) => {
    for (const [path, direction] of Object.entries(sort)) {
      const [one, other] = [valueAt(a, path), valueAt(b, path)];
      const order = rankOf(one) - rankOf(other) || compared(one, other);
      if (order !== 0) return order * direction;
    }
    return 0;
  };
}

function valueAt(document: Document, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => (value as Document | undefined)?.[name], document);
}

const ranks = ["undefined", "number", "string", "object"];

function rankOf(value: unknown): number {
  return ranks.indexOf(value === null ? "undefined" : typeof value);
}

function compared(one: unknown, other: unknown): number {
  if (typeof one === "string") return Buffer.compare(Buffer.from(one), Buffer.from(String(other)));
  if (one instanceof Date && other instanceof Date) return one.getTime() - other.getTime();
  if (typeof one === "number") return one - Number(other);
  return Buffer.compare(BSON.serialize({ one }), BSON.serialize({ one: other }));
}
