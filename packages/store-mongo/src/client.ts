import { driverCalls, importError, invalidOption, type StoreConnection } from "@turnkeep/core/store-kit";
import type { Collection, CollectionOptions, MongoClient as DriverClient } from "mongodb";
import type { MemoryDocument, MigrationDocument, RowDocument } from "./documents.ts";
import type { MongoConnection } from "./options.ts";
import type { Statement } from "./statements.ts";

export const storeName = "mongoStore";

/** What the store needs of a client. A `MongoClient` of `mongodb` has it. */
export interface MongoClient {
  /** Answers the driver's `Db`. */
  db(name: string): { collection(name: string, options: object): object };
  /** The level `"linearizable"` is honoured where the store reads the head of a memory. */
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
 * Whatever the client's own settings are: a write is on the disks of a majority when it is acknowledged, everything is
 * read from the primary, and values come as the store knows them. What is undefined is not sent: statements rely on it.
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
    opened ??= open(place.url ?? place.config.url, place.config).catch((cause: unknown) => {
      // A client that could not connect once never does again.
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

/** A frozen server would otherwise keep a call for ever; `config` may say otherwise. */
const settings = { serverSelectionTimeoutMS: 10_000, connectTimeoutMS: 10_000, socketTimeoutMS: 30_000 };

/** Inside of a `try`, so that bundlers do without a driver that is not installed. */
async function importDriver() {
  try {
    return await import("mongodb");
  } catch (cause) {
    throw importError("mongodb", cause);
  }
}

async function open(url: string, config: object | undefined): Promise<DriverClient> {
  const { MongoClient } = await importDriver();
  // Names of parameters are the same in upper and lower case.
  const parameters = new URLSearchParams(/\?(.*)$/s.exec(url)?.[1]);
  const named = new Set([...parameters.keys()].map((name) => name.toLowerCase()));
  // The driver would put these before what the address says.
  const own = Object.entries(settings).filter(([name]) => !named.has(name.toLowerCase()));
  // What is undefined was not given.
  const given = Object.entries({ ...config, url: undefined }).filter(([, value]) => value !== undefined);
  let client: DriverClient;
  try {
    client = new MongoClient(url, Object.fromEntries([...own, ...given]));
  } catch {
    // Without the cause: what parses an address may quote it, with its password.
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
 * The driver attaches what it sent to the error of a bulk write, content included; the server quotes a command that a
 * user may not run, and what a validator of its own refuses.
 */
function throwWithoutContent(cause: unknown): never {
  if (!(cause instanceof Error)) throw cause;
  const isBulk = "writeErrors" in cause || "result" in cause;
  if (!isBulk && cause.name !== "MongoServerError") throw cause;
  const message = isBulk ? bulkMessage(cause) : cause.message.replace(/\s*\{.*$/s, "");
  const { code, codeName } = cause as { code?: unknown; codeName?: unknown };
  throw Object.assign(new Error(message), { name: cause.name, code, codeName });
}

/** An error of a write concern has a result too, whatever the command was, and says nothing of what was written. */
function bulkMessage({ name }: Error): string {
  return name === "MongoWriteConcernError"
    ? "MongoDB wrote, and did not confirm that a majority has it"
    : "MongoDB refused to insert messages";
}
