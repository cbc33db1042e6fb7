export type { MongoClient } from "./client.ts";
export type { MongoStoreOptions } from "./options.ts";
export { type MongoStore, mongoStore } from "./store.ts";
