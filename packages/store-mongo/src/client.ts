import { driverCalls, importError, invalidOption, type StoreConnection } from "@turnkeep/core/store-kit";
import type { Collection, CollectionOptions, MongoClient as DriverClient } from "mongodb";
import type { MemoryDocument, MigrationDocument, RowDocument } from "./documents.ts";
import type { MongoConnection } from "./options.ts";
import type { Statement } from "./statements.ts";

export const storeName = "mongoStore";

/** What the store needs from a client. A `MongoClient` of `mongodb` provides it. */
export interface MongoClient {
  /** Returns the driver's `Db`. */
  db(name: string): { collection(name: string, options: object): object };
  /** The store honours the level `"linearizable"` when it reads the head of a memory. */
  readonly readConcern?: { readonly level?: string | undefined } | undefined;
}

/** What a statement runs on. */
export interface Collections {
  readonly memories: Collection<MemoryDocument>;
  readonly messages: Collection<RowDocument>;
  readonly migrations: Collection<MigrationDocument>;
  /** How the head of a memory is read. */
  readonly reading: { readonly readConcern: { readonly level: "local" | "linearizable" } };
}

export type Run = <A>(statement: Statement<A>) => Promise<A>;

/**
 * Independent of the client's own settings: an acknowledged write is on the disks of a majority, everything is read
 * from the primary, and values come as the store knows them. Undefined members are not sent, which statements rely on.
 */
const collectionOptions: CollectionOptions = {
  writeConcern: { w: "majority", journal: true },
  readConcern: { level: "local" },
  readPreference: "primary",
  ignoreUndefined: true,
  promoteValues: true,
  promoteLongs: true,
  promoteBuffers: false,
  useBigInt64: false,
  raw: false,
};

/** Does no I/O. */
export function connect(place: MongoConnection, database: string, prefix: string): StoreConnection<Run> {
  let opened: Promise<DriverClient> | undefined;
  let known: Collections | undefined;
  const calls = driverCalls(storeName);

  function clientOf(): MongoClient | Promise<MongoClient> {
    if (place.client !== undefined) return place.client;
    opened ??= open((place.url ?? place.config?.url) as string, place.config).catch((cause: unknown) => {
      // A client that failed to connect once never connects again.
      opened = undefined;
      throw cause;
    });
    return opened;
  }

  async function collections(): Promise<Collections> {
    const client = await clientOf();
    const db = client.db(database) as ReturnType<DriverClient["db"]>;
    const level = client.readConcern?.level === "linearizable" ? "linearizable" : "local";
    known = {
      memories: db.collection(`${prefix}memories`, collectionOptions),
      messages: db.collection(`${prefix}messages`, collectionOptions),
      migrations: db.collection(`${prefix}migrations`, collectionOptions),
      reading: { readConcern: { level } },
    };
    return known;
  }

  return {
    under(signal) {
      return (statement) =>
        calls.run(async () => statement(known ?? (await collections())).catch(throwWithoutContent), signal);
    },
    async close() {
      await calls.settled();
      const client = await opened?.catch(() => undefined);
      await calls.run(() => client?.close(), undefined);
    },
  };
}

/** Otherwise a frozen server would block a call forever. `config` may override these. */
const settings = { serverSelectionTimeoutMS: 10_000, connectTimeoutMS: 10_000, socketTimeoutMS: 30_000 };

/** Inside a `try`, so that bundlers do without a driver that is not installed. */
async function importDriver() {
  try {
    return await import("mongodb");
  } catch (cause) {
    throw importError("mongodb", cause);
  }
}

async function open(url: string, config: object | undefined): Promise<DriverClient> {
  const { MongoClient } = await importDriver();
  // Parameter names are case-insensitive.
  const parameters = new URLSearchParams(/\?(.*)$/s.exec(url)?.[1]);
  const named = new Set([...parameters.keys()].map((name) => name.toLowerCase()));
  // The driver would let these override the URL.
  const own = Object.entries(settings).filter(([name]) => !named.has(name.toLowerCase()));
  // An undefined option counts as not given.
  const given = Object.entries({ ...config, url: undefined }).filter(([, value]) => value !== undefined);
  let client: DriverClient;
  try {
    client = new MongoClient(url, Object.fromEntries([...own, ...given]));
  } catch {
    // Without the cause: a URL parser's error may quote the URL, with its password.
    throw invalidOption(
      "mongodb cannot read the url or its options: check the host, the port and each parameter",
    );
  }
  client.on("error", () => {});
  try {
    return await client.connect();
  } catch (cause) {
    await client.close();
    throw cause;
  }
}

/**
 * The driver attaches what it sent, with content, to a bulk write error. The server quotes a command that a user may
 * not run, and documents that its own validator refuses.
 */
function throwWithoutContent(cause: unknown): never {
  if (!(cause instanceof Error)) throw cause;
  const isBulk = "writeErrors" in cause || "result" in cause;
  if (!isBulk && cause.name !== "MongoServerError") throw cause;
  const message = isBulk ? bulkMessage(cause) : cause.message.replace(/\s*\{.*$/s, "");
  const { code, codeName } = cause as { code?: unknown; codeName?: unknown };
  throw Object.assign(new Error(message), { name: cause.name, code, codeName });
}

/** A write concern error also has a result, whatever the command was, which does not say what was written. */
function bulkMessage({ name }: Error): string {
  return name === "MongoWriteConcernError"
    ? "MongoDB wrote, and did not confirm that a majority has it"
    : "MongoDB refused to insert messages";
}
