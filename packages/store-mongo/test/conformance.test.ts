import { describeConformance } from "@turnkeep/conformance/vitest";
import { driverGroups } from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { MongoClient as MongoClient6 } from "mongodb6";
import { afterAll, beforeAll, inject } from "vitest";
import { mongoStore } from "../src/index.ts";
import { dying, migrated, newDatabase, rawRead, rawRemove, rawWrite, serverAccess } from "./support.ts";

const url = inject("mongoUrl");
const database = newDatabase();
let watcher: MongoClient;
let older: MongoClient6;

beforeAll(async () => {
  await migrated(url, database);
  watcher = new MongoClient(url, { monitorCommands: true });
  // The server's own deletions would hide an expired memory that the store still shows.
  await watcher.db(database).collection("turnkeep_memories").dropIndex("expiry");
  older = await new MongoClient6(url).connect();
});
afterAll(async () => {
  await watcher.db(database).dropDatabase();
  await watcher.close();
  await older.close();
});

describeConformance("a standalone MongoDB, by a url", {
  create: (options) => mongoStore({ url, database, ...options }),
  rawRead: (memoryId) => rawRead(watcher, database, memoryId),
  rawWrite: (memoryId, texts) => rawWrite(watcher, database, memoryId, texts),
  rawRemove: (memoryId, index) => rawRemove(watcher, database, memoryId, index),
  fault: (options) => mongoStore({ client: dying(watcher, options), database }),
  ...serverAccess(
    () => ({ url, database }),
    () => watcher,
  ),
  given: () => ({
    store: mongoStore({ client: watcher, database }),
    isOpen: async () => (await watcher.db("admin").command({ ping: 1 })).ok === 1,
  }),
});

// The same server.
describeConformance(
  "a standalone MongoDB, by one client of mongodb 6.0 that all stores share",
  {
    create: (options) => mongoStore({ client: older, database, ...options }),
    rawRead: (memoryId) => rawRead(watcher, database, memoryId),
  },
  { groups: driverGroups },
);
