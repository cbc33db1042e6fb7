import { randomUUID } from "node:crypto";
// Brings the types of `inject("redisUrl")` and `inject("valkeyUrl")` with it.
import type {} from "@turnkeep/servers";
import { Redis } from "ioredis";
import type { RedisClient } from "../src/index.ts";

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

/** The keys of a memory that are there. */
export async function keysOf(client: Redis, prefix: string, memoryId: string): Promise<string[]> {
  const tag = Buffer.from(memoryId).toString("base64url");
  const names = ["head", "messages", "ids", "live", "evicted", "superseded"];
  const keys = names.map((name) => `${prefix}memory:{${tag}}:${name}`);
  const found = await Promise.all(keys.map((key) => client.exists(key)));
  return keys.filter((_, index) => found[index] === 1);
}

/** Everything that the database holds for a memory, and what the index says of it, as text. */
export async function rawRead(client: Redis, prefix: string, memoryId: string): Promise<string[]> {
  const rows: string[] = [];
  for (const key of await keysOf(client, prefix, memoryId)) {
    const isHash = (await client.type(key)) === "hash";
    rows.push(
      key,
      ...(isHash ? Object.entries(await client.hgetall(key)).flat() : await client.zrange(key, "0", "-1")),
    );
  }
  const entries = await client.zrange(`${prefix}index:{index}:all`, "0", "-1");
  return [...rows, ...entries.filter((entry) => entry.startsWith(`${memoryId}\0`))];
}
