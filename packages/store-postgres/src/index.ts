export type { PostgresClient } from "./client.ts";
export type { PostgresStoreOptions } from "./options.ts";
export { type PostgresStore, postgresStore } from "./store.ts";
