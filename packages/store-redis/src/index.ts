export type { RedisClient } from "./client.ts";
export type { RedisStoreOptions, WaitReplicas } from "./options.ts";
export { redisStore } from "./store.ts";
