export type {
  D1Client,
  DurableObjectClient,
  LibsqlClient,
  SqliteClient,
  SqliteDatabase,
  SqliteValue,
} from "./drivers.ts";
export type { SqliteStoreOptions } from "./options.ts";
export { type SqliteStore, sqliteStore } from "./store.ts";
