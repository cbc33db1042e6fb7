import { driverCalls, importError, invalidOption, type StoreConnection } from "@turnkeep/core/store-kit";
import type { Collection, CollectionOptions, MongoClient as DriverClient } from "mongodb";
import type { MemoryDocument, MigrationDocument, RowDocument } from "./documents.ts";
import type { MongoConnection, NormalOptions } from "./options.ts";
import { explained, isUnanswered, storeName, unconnected } from "./refusals.ts";
import type { Statement } from "./statements.ts";

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
  readonly concern: { readonly readConcern: { readonly level: "local" | "linearizable" } };
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

/** A client in use, with the calls that it has begun. */
interface Link {
  readonly collections: Promise<Collections>;
  readonly calls: ReturnType<typeof driverCalls>;
  isConnected: boolean;
  /** After its last call. */
  close(): Promise<void>;
}

type CollectionNames = Pick<NormalOptions, "database" | "prefix">;

/** Does no I/O. */
export function connect(place: MongoConnection, names: CollectionNames): StoreConnection<Run> {
  const links = new Set<Link>();
  /** Those that are being closed. */
  const leaving = new Set<Promise<void>>();
  let current: Link | undefined;

  function newLink(): Link {
    const opened = place.client === undefined ? open(place).catch(unconnected) : undefined;
    const client = opened ?? Promise.resolve(place.client as MongoClient);
    const calls = driverCalls(storeName);
    const link: Link = {
      collections: client.then((one) => collectionsOf(one, names)),
      calls,
      isConnected: false,
      close: () => calls.closeAfter(async () => (await opened?.catch(() => undefined))?.close()),
    };
    // A client that failed to connect once never connects again.
    link.collections.then(
      () => (link.isConnected = true),
      () => leave(link),
    );
    links.add(link);
    return link;
  }

  /** The next call opens another client. */
  function leave(link: Link): void {
    if (link !== current || place.client !== undefined) return;
    current = undefined;
    const closed = link
      .close()
      .catch(() => {})
      .then(() => {
        links.delete(link);
        leaving.delete(closed);
      });
    leaving.add(closed);
  }

  return {
    under(signal) {
      return async (statement) => {
        current ??= newLink();
        const link = current;
        try {
          return await link.calls.run(() => link.collections.then(statement).catch(explained), signal);
        } catch (error) {
          // The driver drops one connection then. The others may have died with it, and each would cost a call its time.
          if (link.isConnected && isUnanswered(error, signal)) leave(link);
          throw error;
        }
      };
    },
    async close() {
      // A method may go on with a newer one.
      for (const { calls } of links) await calls.settled();
      await Promise.all([...leaving, current?.close()]);
    },
  };
}

function collectionsOf(client: MongoClient, { database, prefix }: CollectionNames): Collections {
  const db = client.db(database) as ReturnType<DriverClient["db"]>;
  const level = client.readConcern?.level === "linearizable" ? "linearizable" : "local";
  return {
    memories: db.collection(`${prefix}memories`, collectionOptions),
    messages: db.collection(`${prefix}messages`, collectionOptions),
    migrations: db.collection(`${prefix}migrations`, collectionOptions),
    concern: { readConcern: { level } },
  };
}

/** What the address and `config` may override. */
const settings = {
  // Otherwise a frozen server would block a call forever.
  ...{ serverSelectionTimeoutMS: 10_000, connectTimeoutMS: 10_000, socketTimeoutMS: 30_000 },
  // Sooner than what lies between forgets a connection that is idle.
  maxIdleTimeMS: 60_000,
};

/** Inside a `try`, so that bundlers do without a driver that is not installed. */
async function importDriver() {
  try {
    return await import("mongodb");
  } catch (cause) {
    throw importError("mongodb", cause);
  }
}

async function open({ url: address, config }: MongoConnection): Promise<DriverClient> {
  const { MongoClient } = await importDriver();
  const url = (address ?? config?.url) as string;
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
