export type { MariaDbStoreOptions } from "./options.ts";
export type { MariaDbConnection, MariaDbPool } from "./pool.ts";
export { type MariaDbStore, mariaDbStore } from "./store.ts";
