import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChatMemoryStore } from "@turnkeep/core";
import { startDynamo, startMongo, startPostgres, startRedis } from "@turnkeep/servers";
import { dynamoStore } from "@turnkeep/store-dynamo";
import { mongoStore } from "@turnkeep/store-mongo";
import { postgresStore } from "@turnkeep/store-postgres";
import { redisStore } from "@turnkeep/store-redis";
import { sqliteStore } from "@turnkeep/store-sqlite";
import Database from "libsql";

/** A store over a server of its own that writes to disk before it answers. */
export interface Bench {
  readonly store: ChatMemoryStore;
  stop(): Promise<void>;
}

/** By the name that the command line takes; `ttlMs` as the stores have it. */
export const databases: Readonly<Record<string, (options?: { readonly ttlMs: number }) => Promise<Bench>>> = {
  async dynamo(options) {
    const server = await startDynamo();
    const store = dynamoStore({ url: server.url, ...options });
    await store.migrate();
    return withStop(store, server);
  },
  async mongo(options) {
    const server = await startMongo({ replicaSet: 3 });
    const store = mongoStore({ url: server.url, ...options });
    await store.migrate();
    return withStop(store, server);
  },
  async postgres(options) {
    const server = await startPostgres();
    const store = postgresStore({ url: server.url, ...options });
    await store.migrate();
    return withStop(store, server);
  },
  async redis(options) {
    const server = await startRedis({ appendfsync: "always" });
    return withStop(redisStore({ url: server.url, ...options }), server);
  },
  async sqlite(options) {
    const folder = mkdtempSync(join(tmpdir(), "turnkeep-bench-"));
    const client = new Database(join(folder, "chat.db"));
    client.exec("pragma journal_mode = wal; pragma synchronous = full");
    const store = sqliteStore({ client, ...options });
    await store.migrate();
    return withStop(store, {
      async stop() {
        client.close();
        rmSync(folder, { recursive: true });
      },
    });
  },
};

function withStop(store: ChatMemoryStore, server: { stop(): Promise<void> }): Bench {
  return {
    store,
    async stop() {
      await store.close();
      await server.stop();
    },
  };
}
