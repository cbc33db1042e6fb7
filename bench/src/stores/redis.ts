import type { ModelMessage, TokenCounter } from "@turnkeep/core";
import { startRedis } from "@turnkeep/servers";
import { redisStore } from "@turnkeep/store-redis";
import { Redis } from "ioredis";
import { conversation } from "../corpus.ts";
import { Peer } from "../peers.ts";
import {
  type Arena,
  type Contender,
  type Conversation,
  delayOf,
  delaysMs,
  type Window,
} from "./contender.ts";
import { type LangChainHistory, type LangChainMessages, langChain } from "./langchain.ts";
import { type MastraCore, type MastraStore, mastra } from "./mastra.ts";
import { ours, rowsShown } from "./ours.ts";
import { startTrafficCounter } from "./traffic.ts";

/** A client of node-redis 4, as LangChain takes it. */
interface NodeRedis {
  connect(): Promise<unknown>;
  lPush(key: string, values: string[]): Promise<unknown>;
  quit(): Promise<unknown>;
}

interface Histories extends LangChainMessages, MastraCore {
  createClient(options: { url: string }): NodeRedis;
  readonly RedisChatMessageHistory: new (fields: {
    sessionId: string;
    client: NodeRedis;
  }) => LangChainHistory;
  readonly RedisStore: new (config: { id: string; connectionString: string }) => MastraStore;
}

const fillBatch = 1_000;

/** Redis with `appendfsync always`. Everybody has one connection, as a process of Redis's drivers has. */
export async function startRedisArena(counter: TokenCounter): Promise<Arena> {
  const peer = new Peer("stores-redis");
  peer.install();
  const histories = await peer.load<Histories>("histories.mjs");
  const server = await startRedis({ appendfsync: "always", log: () => {} });
  const counted = await startTrafficCounter(server.url, delaysMs);
  const rows = await rowsShown(conversation(400), { tokens: 4_000 }, counter);

  return {
    name: "Redis",
    versions: { Redis: server.version, ...peer.versions() },
    async enter(way) {
      const url = way === "direct" ? server.url : counted.through(server.url, delayOf(way));
      const client = histories.createClient({ url });
      await client.connect();
      return [
        ours(redisStore({ url }), counter),
        floor(new Redis(url), rows),
        langChainHistory(client, histories),
        await mastraStore(url, histories, counter),
      ];
    },
    traffic: counted.traffic,
    async stop() {
      await counted.stop();
      await server.stop();
    },
  };
}

/** A list a conversation, and nothing else: no version, no check, no second writer. */
function floor(redis: Redis, rowsOfTokens: number): Contender {
  const filled = new Set<string>();
  const keyOf = (name: string): string => `floor:${name}`;
  return {
    name: "floor",
    kind: "floor",
    async fill(name, messages) {
      if (filled.has(name)) return;
      filled.add(name);
      for (let from = 0; from < messages.length; from += fillBatch) {
        const batch = messages.slice(from, from + fillBatch);
        await redis.rpush(keyOf(name), ...batch.map((message) => JSON.stringify(message)));
      }
    },
    open(name: string, window: Window): Conversation {
      const rows = "messages" in window ? window.messages : rowsOfTokens;
      const key = keyOf(name);
      return {
        async append(message: ModelMessage) {
          await redis.rpush(key, JSON.stringify(message));
          return false;
        },
        async read() {
          const texts = await redis.lrange(key, -rows, -1);
          return texts.map((text) => JSON.parse(text) as ModelMessage);
        },
        readUnchanged: () => redis.llen(key),
      };
    },
    async close() {
      redis.disconnect();
    },
  };
}

function langChainHistory(client: NodeRedis, histories: Histories): Contender {
  return langChain(
    "@langchain/redis",
    histories,
    (sessionId) => new histories.RedisChatMessageHistory({ sessionId, client }),
    async (sessionId, stored) => {
      for (let from = 0; from < stored.length; from += fillBatch) {
        const batch = stored.slice(from, from + fillBatch);
        await client.lPush(
          sessionId,
          batch.map((message) => JSON.stringify(message)),
        );
      }
    },
    async () => {
      await client.quit();
    },
  );
}

async function mastraStore(url: string, histories: Histories, counter: TokenCounter): Promise<Contender> {
  const storage = new histories.RedisStore({ id: "benchmark", connectionString: url });
  await storage.init();
  return mastra("@mastra/redis", histories, await storage.getStore("memory"), counter, () => storage.close());
}
