import { randomUUID } from "node:crypto";
import type { ChatMemoryStore, MemoryUpdate, ModelMessage } from "@turnkeep/core";
import { startRedis } from "@turnkeep/servers";
import { redisStore } from "@turnkeep/store-redis";
import { tokenCounter } from "@turnkeep/tokens";
import { Redis } from "ioredis";
import type { Benchmark } from "../benchmark.ts";
import { conversation } from "../corpus.ts";
import { median } from "../measure.ts";
import type { Table } from "../report/table.ts";
import { ours } from "../stores/ours.ts";

/** How many messages are live. */
const live = 30;

/** What the server needs for one call of each, by its own clock: what a client waits for is measured by `stores`. */
export const redis: Benchmark = {
  name: "redis",
  about: "what an append, a read and a message cost a Redis server",
  async run({ quick, say }) {
    const server = await startRedis({ log: () => {} });
    const client = new Redis(server.url);
    const store = redisStore({ client });
    const mortal = redisStore({ client, prefix: "mortal:", ttlMs: 3_600_000 });
    try {
      say("Redis: microseconds");
      const times = await measure(client, await callsOf(client, store, mortal), quick ? 3 : 25);
      say("Redis: bytes");
      const bytes = await memoryOf(client, store, quick ? 200 : 2_000);
      const us = (call: string): number => times.get(call) ?? Number.NaN;
      const timesTable: Table = {
        title: `Microseconds of the server a call, ${live} live messages: medians`,
        columns: ["call", "µs"],
        rows: [...times],
      };
      const bytesTable: Table = {
        title: "Bytes of the server a message, of 2,000 under a window of 4,000 tokens",
        columns: ["what", "bytes"],
        rows: [...bytes],
      };
      const [perMessage = Number.NaN, inAList = Number.NaN] = bytes.values();
      return {
        tables: [timesTable, bytesTable],
        targets: [
          {
            what: "Redis server: append, × a script by hand with the same promises",
            measured: us("append") / us("append: a script by hand"),
            atMost: 1.3,
            before: "2.2",
            decides: "capacity",
          },
          {
            what: "Redis server: read, × HMGET and LRANGE in MULTI",
            measured: us("read") / us("read: HMGET and LRANGE in MULTI"),
            atMost: 2,
            before: "9–12",
            decides: "capacity",
          },
          {
            what: "Redis server: bytes a message, × a list of the same",
            measured: perMessage / inAList,
            atMost: 1.7,
            before: "2.0",
            decides: "size",
          },
        ],
        versions: { Redis: server.version },
      };
    } finally {
      await Promise.all([store.close(), mortal.close()]);
      client.disconnect();
      await server.stop();
    }
  },
};

interface Call {
  /** Once before each measurement. */
  prepare?(): Promise<unknown>;
  run(): Promise<unknown>;
}

/** An append by hand: one version of two, a repeat told, no seq twice, found by its id, a loss told, the server's time. */
const byHand = `
local stored = redis.call('HMGET', KEYS[1], 'version', 'next', 'count')
if stored[1] ~= ARGV[1] then return stored[1] == ARGV[2] and 'replayed' or 'conflict' end
if tonumber(ARGV[3]) < tonumber(stored[2]) then return 'disagrees' end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'next', ARGV[4], 'updated', time[1] .. time[2], 'count', stored[3] + 1)
redis.call('RPUSH', KEYS[2], ARGV[6])
redis.call('HSET', KEYS[3], ARGV[5], ARGV[3])
return 'done'`;

async function callsOf(
  client: Redis,
  store: ChatMemoryStore,
  mortal: ChatMemoryStore,
): Promise<ReadonlyMap<string, Call>> {
  const messages = conversation(live, 2);
  const payloads = messages.map((message) => JSON.stringify(message));
  const payloadOf = (seq: number): string => payloads[seq % live] as string;
  const names = ["head", "messages", "ids"] as const;
  const [head, list, ids] = names.map((name) => `by hand:{a memory's id}:${name}`) as [
    string,
    string,
    string,
  ];
  const sha = String(await client.script("LOAD", byHand));
  let seq = 1;
  let version = "none";

  async function appendByHand(): Promise<void> {
    const next = randomUUID();
    const args = [version, next, seq, seq + 1, randomUUID(), `${Date.now()}${randomUUID()}${payloadOf(seq)}`];
    const outcome = await client.evalsha(sha, 3, head, list, ids, ...args);
    if (outcome !== "done") throw new Error(`The script by hand answered ${outcome}`);
    version = next;
    seq++;
  }
  async function beginByHand(): Promise<void> {
    seq = 1;
    version = "none";
    await client.unlink(head, list, ids);
    await client.hset(head, "version", version, "next", 1, "count", 0, "owner", "o", "head", "{}");
    while (seq <= live) await appendByHand();
  }
  const short = new Memory(store, payloadOf);
  const full = new Memory(store, payloadOf);
  const expiring = new Memory(mortal, payloadOf);
  const readByHand = (): Promise<unknown> =>
    client.multi().hmget(head, "version", "next", "owner", "head").lrange(list, 0, -1).exec();
  return new Map<string, Call>([
    ["append", { prepare: () => short.begin(), run: () => short.append() }],
    ["append: a script by hand", { prepare: beginByHand, run: appendByHand }],
    ["append that evicts one", { prepare: () => full.begin(), run: () => full.append(1) }],
    ["append, with ttlMs", { prepare: () => expiring.begin(), run: () => expiring.append() }],
    ["append: bare RPUSH", { run: () => client.rpush("bare", payloadOf(1)) }],
    ["read", { prepare: () => short.begin(), run: () => store.getMessages(short.id) }],
    ["read: HMGET and LRANGE in MULTI", { prepare: beginByHand, run: readByHand }],
    ["read: bare LRANGE", { run: () => client.lrange(list, 0, -1) }],
    ["read of what others have changed", { run: () => store.getMessages(short.id, { known: "earlier" }) }],
    ["unchanged read", { run: () => store.getMessages(short.id, { known: short.version ?? "" }) }],
    ["unchanged read: bare HGET", { run: () => client.hget(head, "version") }],
  ]);
}

/** Sends the store what a memory sends it. */
class Memory {
  readonly id: string = randomUUID();
  version: string | null = null;
  readonly #store: ChatMemoryStore;
  readonly #payloadOf: (seq: number) => string;
  #nextSeq = 1;
  #oldest = 1;

  constructor(store: ChatMemoryStore, payloadOf: (seq: number) => string) {
    this.#store = store;
    this.#payloadOf = payloadOf;
  }

  async begin(): Promise<void> {
    await this.#store.deleteMessages(this.id);
    this.version = null;
    this.#nextSeq = 1;
    this.#oldest = 1;
    while (this.#nextSeq <= live) await this.append();
  }

  async append(evicts = 0): Promise<void> {
    const seq = this.#nextSeq++;
    const version = randomUUID();
    const message = { id: randomUUID(), seq, createdAt: Date.now(), payload: this.#payloadOf(seq) };
    const update: MemoryUpdate = {
      ...{ expected: this.version, version, nextSeq: seq + 1, append: [message], replace: [] },
      move: Array.from({ length: evicts }, () => ({ seq: this.#oldest++, to: "evicted" })),
    };
    if (this.version === null) Object.assign(update, { owner: "o", head: "{}" });
    await this.#store.updateMessages(this.id, update);
    this.version = version;
  }
}

/** In turns, so that what disturbs one disturbs all; the first round warms up. */
async function measure(
  client: Redis,
  calls: ReadonlyMap<string, Call>,
  rounds: number,
): Promise<ReadonlyMap<string, number>> {
  const count = 20;
  const samples = new Map([...calls.keys()].map((name): [string, number[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, { prepare, run }] of calls) {
      await prepare?.();
      await client.config("RESETSTAT");
      for (let call = 0; call < count; call++) await run();
      const us = usOf(await client.info("commandstats")) / count;
      if (round > 0) samples.get(name)?.push(us);
    }
  }
  return new Map([...samples].map(([name, all]) => [name, median(all)]));
}

/** The time of what clients have called. What a script or a transaction calls counts in it, and is listed beside it too. */
function usOf(commandstats: string): number {
  const us = new Map<string, number>();
  for (const [, name = "", total] of commandstats.matchAll(/cmdstat_(\S+?):calls=\d+,usec=(\d+)/g)) {
    us.set(name, Number(total));
  }
  const outer = ["evalsha", "exec"].filter((name) => us.has(name));
  const own =
    outer.length > 0 ? [...outer, "multi"] : [...us.keys()].filter((name) => !/^(config|info)/.test(name));
  return own.reduce((sum, name) => sum + (us.get(name) ?? 0), 0);
}

/** What a conversation takes by `MEMORY USAGE` of its keys; the same as a list of nothing but its messages. */
async function memoryOf(
  client: Redis,
  store: ChatMemoryStore,
  count: number,
): Promise<ReadonlyMap<string, number>> {
  const messages: readonly ModelMessage[] = conversation(count);
  const memory = ours(store, await tokenCounter("o200k_base")).open("bytes", { tokens: 4_000 });
  for (const message of messages) {
    await memory.append(message);
    await client.rpush("list of the same", JSON.stringify(message));
  }
  const of = async (keys: readonly string[]): Promise<number> => {
    const sizes = await Promise.all(keys.map((key) => client.memory("USAGE", key, "SAMPLES", 0)));
    return sizes.reduce((sum: number, size) => sum + Number(size), 0) / count;
  };
  const id = Buffer.from("bytes 4000 tokens").toString("base64url");
  return new Map([
    ["turnkeep", await of(await client.keys(`*{${id}}*`))],
    ["a list of the messages", await of(["list of the same"])],
  ]);
}
