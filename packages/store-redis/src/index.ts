export type { NodeRedisClient, RedisClient } from "./drivers.ts";
export type { RedisStoreOptions, WaitReplicas } from "./options.ts";
export { redisStore } from "./store.ts";
