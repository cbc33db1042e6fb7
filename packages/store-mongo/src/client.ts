import { driverCalls, invalidOption } from "@turnkeep/core/store-kit";
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

/** The way to the database: statements go out, the driver's faults come back as Turnkeep's errors. */
export interface Connection {
  run<A>(statement: Statement<A>, signal: AbortSignal | undefined): Promise<A>;
  close(): Promise<void>;
}

/**
 * Whatever the client's own settings are: a write is on the disks of a majority when it is acknowledged, everything is
 * read from the primary, and values come as the store knows them.
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
export function connect(place: MongoConnection, database: string, prefix: string): Connection {
  let opened: Promise<DriverClient> | undefined;
  let known: Collections | undefined;
  const calls = driverCalls(storeName);

  /** A client that could not connect once never does again. */
  function openAgain(url: string, config: object | undefined): Promise<DriverClient> {
    return open(url, config).catch((cause: unknown) => {
      opened = undefined;
      throw cause;
    });
  }

  async function collections(): Promise<Collections> {
    if (place.client === undefined) opened ??= openAgain(place.url ?? place.config.url, place.config);
    const client = place.client ?? ((await opened) as DriverClient);
    const db = client.db(database) as ReturnType<DriverClient["db"]>;
    known = {
      memories: db.collection(`${prefix}memories`, collectionOptions),
      messages: db.collection(`${prefix}messages`, collectionOptions),
      migrations: db.collection(`${prefix}migrations`, collectionOptions),
      reading: {
        readConcern: { level: client.readConcern?.level === "linearizable" ? "linearizable" : "local" },
      },
    };
    return known;
  }

  return {
    run: (statement, signal) =>
      calls.run(async () => {
        try {
          return await statement(known ?? (await collections()));
        } catch (cause) {
          throw withoutContent(cause);
        }
      }, signal),
    async close() {
      await calls.settled();
      const client = await opened?.catch(() => undefined);
      await calls.run(() => client?.close(), undefined);
    },
  };
}

/** A frozen server would otherwise keep a call for ever; `config` may say otherwise. */
const settings = { serverSelectionTimeoutMS: 10_000, connectTimeoutMS: 10_000, socketTimeoutMS: 30_000 };

async function open(url: string, config: object | undefined): Promise<DriverClient> {
  const { MongoClient } = await import("mongodb").catch((cause: unknown) => {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND")) throw cause;
    throw invalidOption('url and config need the driver "mongodb": install it, or give the store a client');
  });
  const { url: _, ...given } = { url, ...config };
  let client: DriverClient;
  try {
    client = new MongoClient(url, { ...settings, ...optionsIn(url), ...given });
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

/** What the address says counts for more than the store's own settings, which the driver would put first. */
function optionsIn(url: string): object {
  const query = new URLSearchParams(/\?(.*)$/s.exec(url)?.[1]);
  const named = [...query].filter(([name, value]) => name in settings && /^\d+$/.test(value));
  return Object.fromEntries(named.map(([name, value]) => [name, Number(value)]));
}

/** The driver attaches what it sent to the error of a bulk write, content included. */
function withoutContent(cause: unknown): unknown {
  if (!(cause instanceof Error) || !("writeErrors" in cause || "result" in cause)) return cause;
  const code = "code" in cause ? cause.code : undefined;
  return Object.assign(new Error("MongoDB refused to insert messages"), { name: cause.name, code });
}
