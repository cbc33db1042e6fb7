import { describeConformance } from "@turnkeep/conformance/vitest";
import { type MongoServer, startMongo } from "@turnkeep/servers";
import { partOfTheKit, serverGroups } from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll } from "vitest";
import { mongoStore } from "../src/index.ts";
import { databaseNow, dying, migrated, newDatabase, rawRead, rawRemove, rawWrite } from "./support.ts";

const database = newDatabase();
let server: MongoServer;
let watcher: MongoClient;

beforeAll(async () => {
  server = await startMongo({ replicaSet: 3 });
  await migrated(server.url, database);
  watcher = new MongoClient(server.url);
});
afterAll(async () => {
  await watcher?.close();
  await server?.stop();
});

// A standalone server has the whole kit, and writes a third of what this one does.
describeConformance(
  "a replica set of three, by a url",
  {
    create: (options) => mongoStore({ url: server.url, database, ...options }),
    rawRead: (memoryId) => rawRead(watcher, database, memoryId),
    rawWrite: (memoryId, texts) => rawWrite(watcher, database, memoryId, texts),
    rawRemove: (memoryId, index) => rawRemove(watcher, database, memoryId, index),
    fault: (options) => mongoStore({ client: dying(watcher, options), database }),
    databaseNow: () => databaseNow(watcher),
  },
  { groups: partOfTheKit(serverGroups) },
);

// Whatever a client is set to, the store has its own way of reading and writing. The same servers.
describeConformance(
  "a replica set of three, by a client that reads from secondaries and waits for nobody",
  {
    create: (options) =>
      mongoStore({
        config: {
          ...{ url: server.url, readPreference: "secondary", writeConcern: { w: 1 } },
          ...{ readConcernLevel: "linearizable", useBigInt64: true, ignoreUndefined: false },
        },
        database,
        ...options,
      }),
    rawRead: (memoryId) => rawRead(watcher, database, memoryId),
  },
  { groups: partOfTheKit(["basic", "versions", "replay"]) },
);
