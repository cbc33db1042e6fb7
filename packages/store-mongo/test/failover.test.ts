import { randomUUID } from "node:crypto";
import { type MongoServer, startMongo } from "@turnkeep/servers";
import { message, update } from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type MongoStore, mongoStore } from "../src/index.ts";

let server: MongoServer;

beforeAll(async () => {
  server = await startMongo({ replicaSet: 3 });
  const store = mongoStore({ url: server.url });
  await store.migrate();
  await store.close();
});
afterAll(() => server?.stop());

test.each([
  ["linearizable", "linearizable"],
  ["majority", "local"],
  [undefined, "local"],
] as const)(
  "the head of a memory is read as a client with read concern %j wants it: %j",
  async (level, sent) => {
    const readConcern = level === undefined ? {} : { readConcern: { level } };
    const client = new MongoClient(server.url, { ...readConcern, monitorCommands: true });
    onTestFinished(() => client.close());
    const levels = new Set<unknown>();
    client.on("commandStarted", ({ command }) => {
      if (command.find === "turnkeep_migrations" || command.find === undefined) return;
      levels.add(`${command.find} ${command.readConcern?.level ?? "local"}`);
    });
    const append = [message(1, JSON.stringify("x".repeat(40_000)))];
    const store = mongoStore({ client });
    await store.updateMessages(`read ${level}`, update(null, 2, { append }));
    expect((await store.getMessages(`read ${level}`)).messages).toEqual(append);
    // What stands beside it is found by what the head says, as soon as it is there.
    expect(levels).toEqual(new Set([`turnkeep_memories ${sent}`, "turnkeep_messages local"]));
  },
);

test("a write to a member that is not the primary may be made again, and is not called open", async () => {
  const hosts = /\/\/([^/]*)/.exec(server.url)?.[1]?.split(",") ?? [];
  const codes: string[] = [];
  for (const host of hosts) {
    const store = mongoStore({ url: `mongodb://${host}/?directConnection=true` });
    onTestFinished(() => store.close());
    // A member that is behind does not know yet that migrate() has run.
    const read = () =>
      store.getMessages("a").then(
        ({ version }) => version,
        ({ code }) => code,
      );
    await expect.poll(read, { timeout: 60_000 }).toBeNull();
    const change = update(null, 2, { append: [message(1)] });
    const error = await store.updateMessages(`directly ${host}`, change).catch((cause: unknown) => cause);
    if (error === undefined) continue;
    expect(error).toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("not the primary"),
      cause: { code: 10107 },
    });
    expect(String(error)).not.toContain("is open");
    codes.push(host);
  }
  expect(codes).toHaveLength(2);
});

/** By the address, as an application would; and with each write sent once, so that more of them fail. */
const failovers = [
  { parameter: "", bytes: 40_000 },
  { parameter: "&retryWrites=false", bytes: 40 },
  { parameter: "", bytes: 40 },
  { parameter: "&retryWrites=false", bytes: 40_000 },
];

describe("a failover", () => {
  // Each way to write and each way to keep a message once; the other pairs: see CONTRIBUTING.md.
  test.each(failovers.slice(0, process.env.TURNKEEP_THOROUGH ? 4 : 2))(
    "loses nothing that was acknowledged, with the address's $parameter, of messages of $bytes bytes",
    async ({ parameter, bytes }) => {
      const memoryId = `failover ${randomUUID()}`;
      const acknowledged: string[] = [];
      const attempted = new Set<string>();
      let stop = false;

      async function append(store: MongoStore, id: string): Promise<void> {
        for (;;) {
          try {
            const { version, nextSeq, messages } = await store.getMessages(memoryId);
            const move = messages.slice(0, -3).map(({ seq }) => ({ seq, to: "evicted" as const }));
            const appended = { ...message(nextSeq, JSON.stringify("x".repeat(bytes))), id };
            await store.updateMessages(memoryId, update(version, nextSeq + 1, { append: [appended], move }));
            acknowledged.push(id);
            return;
          } catch (error) {
            const { code } = error as { code?: string };
            if (code === "VERSION_CONFLICT") continue;
            expect(code).toBe("STORE_UNAVAILABLE");
            return;
          }
        }
      }

      async function write(name: string): Promise<void> {
        const store = mongoStore({ url: `${server.url}&heartbeatFrequencyMS=500${parameter}` });
        onTestFinished(() => store.close());
        for (let n = 1; !stop; n++) {
          const id = `${name}-${n}`;
          attempted.add(id);
          await append(store, id);
        }
      }

      const writers = ["a", "b", "c"].map(write);
      try {
        for (const goal of [30, 60]) {
          await expect.poll(() => acknowledged.length, { timeout: 30_000 }).toBeGreaterThan(goal);
          await server.stepDown();
        }
        const before = acknowledged.length;
        await expect.poll(() => acknowledged.length, { timeout: 30_000 }).toBeGreaterThan(before + 10);
      } finally {
        stop = true;
        await Promise.all(writers);
      }

      const store = mongoStore({ url: server.url });
      onTestFinished(() => store.close());
      const found: string[] = [];
      for (let after = 0, hasMore = true; hasMore; ) {
        const page = await store.getHistory(memoryId, { after, limit: 100 });
        found.push(...page.messages.map(({ id }) => id));
        after = page.messages.at(-1)?.seq ?? after;
        hasMore = page.hasMore;
      }
      expect(new Set(found).size).toBe(found.length);
      expect(acknowledged.filter((id) => !found.includes(id))).toEqual([]);
      expect(found.filter((id) => !attempted.has(id))).toEqual([]);
    },
    120_000,
  );
});

test("a server that is killed with all its members comes back with everything", async () => {
  const store = mongoStore({ url: server.url });
  onTestFinished(() => store.close());
  const begin = update(null, 3, { append: [message(1), message(2, JSON.stringify("x".repeat(40_000)))] });
  await store.updateMessages("killed", begin);
  await server.restart();
  const again = mongoStore({ url: server.url });
  onTestFinished(() => again.close());
  expect((await again.getMessages("killed")).messages).toEqual(begin.append);
}, 90_000);
