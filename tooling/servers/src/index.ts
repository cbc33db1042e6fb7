export { createDatabase, type TestDatabase } from "./database.ts";
export { type DynamoOptions, type DynamoServer, startDynamo } from "./dynamo.ts";
export { type MariaDbOptions, type MariaDbServer, startMariaDb } from "./mariadb.ts";
export { type MongoOptions, type MongoServer, startMongo } from "./mongo.ts";
export { newerNode } from "./newer-node.ts";
export { type PgBouncer, type PgBouncerOptions, startPgBouncer } from "./pgbouncer.ts";
export { type PostgresOptions, type PostgresServer, startPostgres } from "./postgres.ts";
export { type RedisOptions, type RedisServer, startRedis } from "./redis.ts";
export { type RedisCluster, startRedisCluster } from "./redis-cluster.ts";
export type { RedisEngine } from "./redis-engines.ts";
export type { RedisGroup, RedisGroupOptions } from "./redis-group.ts";
export type { RedisNode } from "./redis-process.ts";
export { type RedisSentinel, startRedisSentinel } from "./redis-sentinel.ts";
export { type Attempt, ServerUnavailable, type Source } from "./sources.ts";
export { images } from "./versions.ts";
// Brings the type of `inject("dynamoUrl")` with it.
export type {} from "./vitest-dynamo.ts";
// Brings the type of `inject("mongoUrl")` with it.
export type {} from "./vitest-mongo.ts";
// The same of `inject("postgresUrl")`.
export type {} from "./vitest-postgres.ts";
// The same of `inject("redisUrl")`.
export type {} from "./vitest-redis.ts";
