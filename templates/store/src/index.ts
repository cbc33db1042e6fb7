export type { SqliteClient } from "./client.ts";
export type { SqliteStoreOptions } from "./options.ts";
export { type SqliteStore, sqliteStore } from "./store.ts";
