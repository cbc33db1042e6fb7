export type { DynamoClient } from "./client.ts";
export type { DynamoStoreOptions } from "./options.ts";
export { type DynamoStore, dynamoStore } from "./store.ts";
