import { randomUUID } from "node:crypto";
import { type ConformanceHarness, counting, type FaultOptions, failing } from "@turnkeep/conformance";
// Brings the types of `inject("redisUrl")` and `inject("valkeyUrl")` with it.
import type {} from "@turnkeep/servers";
import { bundled } from "@turnkeep/store-tests";
import { type Cluster, Redis } from "ioredis";
import { type RedisClient, redisStore } from "../src/index.ts";
import { keyNames } from "../src/scripts.ts";

export interface RecordingClient extends RedisClient {
  readonly commands: { readonly name: string; readonly args: readonly (string | number)[] }[];
}

/** Passes every command on and keeps it. */
export function recording(client: RedisClient): RecordingClient {
  const commands: RecordingClient["commands"] = [];
  return {
    commands,
    call(name, args) {
      commands.push({ name, args });
      return client.call(name, args);
    },
  };
}

/** A prefix of the test's own: the servers are shared. */
export function newPrefix(): string {
  return `test-${randomUUID()}:`;
}

/** A client whose server answers each command with that, and how often it was asked. */
export function refusing(answer: string): { asked: number; call(): Promise<never> } {
  return {
    asked: 0,
    async call() {
      this.asked++;
      throw Object.assign(new Error(answer), { name: "ReplyError", command: { name: "evalsha" } });
    },
  };
}

/** A client for what tests look at or break themselves. */
export async function withClient<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url);
  client.on("error", () => {});
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

/** Every command that the server carried out meanwhile, those of scripts and of others included. */
export async function monitored(client: Redis, run: () => Promise<unknown>): Promise<string[][]> {
  const commands: string[][] = [];
  const monitor = await client.monitor();
  const last = `the last ${randomUUID()}`;
  const ended = new Promise<void>((resolve) => {
    monitor.on("monitor", (_time: string, command: string[]) => {
      commands.push(command);
      if (command.includes(last)) resolve();
    });
  });
  await run();
  await client.echo(last);
  await ended;
  monitor.disconnect();
  return commands;
}

/** The keys of a memory that are there. */
export async function keysOf(client: Redis | Cluster, prefix: string, memoryId: string): Promise<string[]> {
  const tag = Buffer.from(memoryId).toString("base64url");
  const keys = keyNames.map((name) => `${prefix}memory:{${tag}}:${name}`);
  const found = await Promise.all(keys.map((key) => client.exists(key)));
  return keys.filter((_, index) => found[index] === 1);
}

/** A text in the database, how to put another in its place, and how to remove it. */
interface Place {
  readonly text: string;
  put(text: string): Promise<unknown>;
  remove(): Promise<unknown>;
}

/** Everything that the database holds for a memory, and what the index says of it, as text. */
export async function rawRead(client: Redis | Cluster, prefix: string, memoryId: string): Promise<string[]> {
  return (await placesOf(client, prefix, memoryId)).map(({ text }) => text);
}

/** Puts these texts in place of those that `rawRead` answers. */
export async function rawWrite(
  client: Redis | Cluster,
  prefix: string,
  memoryId: string,
  texts: readonly string[],
): Promise<void> {
  const places = await placesOf(client, prefix, memoryId);
  for (const [index, place] of places.entries()) await place.put(texts[index] ?? "");
}

/** Removes one of the texts that `rawRead` answers. */
export async function rawRemove(
  client: Redis | Cluster,
  prefix: string,
  memoryId: string,
  index: number,
): Promise<void> {
  await (await placesOf(client, prefix, memoryId))[index]?.remove();
}

async function placesOf(client: Redis | Cluster, prefix: string, memoryId: string): Promise<Place[]> {
  const places: Place[] = [];
  for (const key of await keysOf(client, prefix, memoryId)) {
    const isHash = (await client.type(key)) === "hash";
    places.push(...(isHash ? await valuesOf(client, key) : await membersOf(client, key)));
  }
  const lists = ["all", "newest:all"].map((list) => membersOf(client, `${prefix}index:{index}:${list}`));
  const entries = (await Promise.all(lists)).flat();
  return [...places, ...entries.filter(({ text }) => text.startsWith(`${memoryId}\0`))];
}

async function valuesOf(client: Redis | Cluster, key: string): Promise<Place[]> {
  const fields = Object.entries(await client.hgetall(key));
  return fields.map(([field, text]) => ({
    text,
    put: (changed) => client.hset(key, field, changed),
    remove: () => client.hdel(key, field),
  }));
}

async function membersOf(client: Redis | Cluster, key: string): Promise<Place[]> {
  const members = await client.zrange(key, "0", "-1");
  return members.map((text) => ({
    text,
    remove: () => client.zrem(key, text),
    async put(changed) {
      const score = await client.zscore(key, text);
      await client.zrem(key, text);
      await client.zadd(key, score ?? "0", changed);
    },
  }));
}

/** A client whose command number `step`, from 1, fails: unless it is told otherwise, the process is gone then. */
export function dying(client: RedisClient, options: FaultOptions): RedisClient {
  const fault = failing(options);
  return {
    async call(command, args) {
      const answered = fault.write();
      const answer = await client.call(command, args);
      answered();
      return answer;
    },
  };
}

/** What the kit does with a server, from this process and another. */
export function serverAccess(
  { url, prefix }: { readonly url: string; readonly prefix: string },
  client: () => Redis,
): Pick<ConformanceHarness, "elsewhere" | "unreachable" | "counted" | "databaseNow"> {
  return {
    elsewhere: async () => ({
      module: await bundled(new URL("elsewhere.ts", import.meta.url)),
      data: { url, prefix },
    }),
    unreachable: () => ({ store: redisStore({ url: "redis://app:s3cret@127.0.0.1:1" }), secret: "s3cret" }),
    counted() {
      const { call, count } = counting();
      const counted: RedisClient = {
        call: (command, args) => call([command, args], async () => client().call(command, args)),
      };
      return { store: redisStore({ client: counted, prefix }), count };
    },
    async databaseNow() {
      const [seconds, micros] = await client().time();
      return 1000 * Number(seconds) + Number(micros) / 1000;
    },
  };
}
