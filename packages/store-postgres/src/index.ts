export type { PostgresClient, QueryAnswer } from "./client.ts";
export type { PostgresStoreOptions } from "./options.ts";
export { type PostgresStore, postgresStore } from "./store.ts";
