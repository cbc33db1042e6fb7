import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createChatMemory, entry, user } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { type DynamoClient, type DynamoStore, dynamoStore } from "../src/index.ts";
import { startLossyProxy } from "./lossy-proxy.ts";
import { configOf, inRows, itemsBeside, itemsIn, sized, useOwnTable } from "./support.ts";

const { tableName, client, open } = useOwnTable();
const other = open();

/** A client that repeats a request that got no answer. */
type NewClient = (config: ReturnType<typeof configOf>) => DynamoClient & { destroy(): void };

/** A strategy of one's own, which says nothing of how often it tried. */
const stubborn = {
  mode: "stubborn",
  async retry(next: (args: object) => Promise<unknown>, args: object): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await next(args);
      } catch (error) {
        const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
        if (status !== undefined || attempt === 3) throw error;
      }
    }
  },
};

const clients: [string, NewClient][] = [
  ["the SDK's own", (config) => new DynamoDBClient(config)],
  ["the adaptive one", (config) => new DynamoDBClient({ ...config, retryMode: "adaptive" })],
  ["one's own", (config) => new DynamoDBClient({ ...config, retryStrategy: stubborn as never })],
];

async function lossy(newClient: NewClient = (config) => new DynamoDBClient(config)) {
  const proxy = await startLossyProxy(inject("dynamoUrl"));
  const own = newClient(configOf(proxy.url));
  onTestFinished(() => own.destroy());
  return { proxy, store: dynamoStore({ client: own, tableName }) };
}

const unavailable = { code: "STORE_UNAVAILABLE" };
const conflict = { code: "VERSION_CONFLICT" };

async function begun(store: DynamoStore, memoryId: string, append = messages(1, 2)): Promise<string> {
  const begin = update(null, append.length + 1, { append });
  await store.updateMessages(memoryId, begin);
  return begin.version;
}

describe.each(clients)(
  "a put whose answer is lost, and that is repeated by a strategy: %s",
  (_, newClient) => {
    test("is in place", async () => {
      const { proxy, store } = await lossy(newClient);
      const memoryId = randomUUID();
      const version = await begun(store, memoryId);
      proxy.loseAnswer("PutItem");
      const next = update(version, 4, { append: [message(3)] });
      await store.updateMessages(memoryId, next);
      expect(await other.getMessages(memoryId)).toMatchObject({ version: next.version, nextSeq: 4 });
      expect(proxy.requests.filter((operation) => operation === "PutItem")).toHaveLength(2);
    });

    test.each<[string, (memoryId: string) => Promise<unknown>, string[]]>([
      ["cleared", (id) => createChatMemory({ id, store: other }).clear(), []],
      [
        "cleared and begun anew",
        async (id) => {
          await createChatMemory({ id, store: other }).clear();
          await createChatMemory({ id, store: other }).add(entry(user("anew"), { id: "anew" }));
        },
        ["anew"],
      ],
      ["without the new message", (id) => createChatMemory({ id, store: other }).remove("new"), ["old"]],
    ])("does not come back when the memory is %s meanwhile", async (_, meanwhile, ids) => {
      const { proxy, store } = await lossy(newClient);
      const id = randomUUID();
      const memory = createChatMemory({ id, store });
      await memory.add(entry(user("old"), { id: "old" }));
      proxy.loseAnswer("PutItem", () => meanwhile(id));
      const added = memory.add(entry(user("new"), { id: "new" }));
      await expect(added).rejects.toMatchObject(unavailable);
      const { messages: seen } = await createChatMemory({ id, store: other }).history();
      expect(seen.map((found) => found.id)).toEqual(ids);
    });
  },
);

describe("a put that another was faster than", () => {
  async function meets(lose: "loseAnswer" | "loseRequest", times: number) {
    const { proxy, store } = await lossy();
    const memoryId = randomUUID();
    const version = await begun(store, memoryId);
    const mine = update(version, 4, { append: [message(3)] });
    proxy[lose]("PutItem", async () => {
      for (let n = 0; n < times; n++) {
        const { version: last, nextSeq } = await other.getMessages(memoryId);
        await other.updateMessages(memoryId, update(last, nextSeq, { head: `${n}` }));
      }
    });
    return { call: store.updateMessages(memoryId, mine), memoryId };
  }

  test("is open if it may have been in place before", async () => {
    await expect((await meets("loseAnswer", 1)).call).rejects.toMatchObject(unavailable);
    await expect((await meets("loseRequest", 2)).call).rejects.toMatchObject(unavailable);
  });

  test("is a certain conflict if the other was the next after the expected version", async () => {
    const { call, memoryId } = await meets("loseRequest", 1);
    await expect(call).rejects.toMatchObject(conflict);
    expect((await other.getMessages(memoryId)).messages).toEqual(messages(1, 2));
  });

  test("is a certain conflict if it was answered, however often it was throttled before", async () => {
    const { proxy, store } = await lossy();
    const memoryId = randomUUID();
    const version = await begun(store, memoryId);
    for (let n = 0; n < 2; n++) {
      const { version: last } = await other.getMessages(memoryId);
      await other.updateMessages(memoryId, update(last, 3, { head: `${n}` }));
    }
    for (let n = 0; n < 2; n++) proxy.throttle("PutItem");
    const late = update(version, 3, { head: "3" });
    await expect(store.updateMessages(memoryId, late)).rejects.toMatchObject(conflict);
    expect(proxy.requests.filter((operation) => operation === "PutItem")).toHaveLength(3);
  });
});

describe("a transaction whose answer is lost, and that is repeated with its token", () => {
  const changes: [string, (store: DynamoStore, memoryId: string) => Promise<() => Promise<void>>][] = [
    [
      "begins a memory",
      async (store, memoryId) => () =>
        store.updateMessages(memoryId, update(null, 3, { owner: memoryId, append: messages(1, 2) })),
    ],
    [
      "moves messages out of the head",
      async (store, memoryId) => {
        const version = await begun(store, memoryId);
        return () => store.updateMessages(memoryId, update(version, 5, { append: inRows(3, 4) }));
      },
    ],
    [
      "puts parts of a row in place",
      async (store, memoryId) => {
        const version = await begun(store, memoryId);
        return () => store.updateMessages(memoryId, update(version, 4, { append: [sized(3, 900_000)] }));
      },
    ],
    [
      "is rolled forward",
      async (store, memoryId) => {
        const version = await begun(store, memoryId, inRows(1, 110));
        const replace = messages(1, 110);
        return () => store.updateMessages(memoryId, update(version, 111, { replace }));
      },
    ],
  ];

  test.each(changes)(
    "which %s: it was made once, and what was deleted meanwhile stays deleted",
    async (_, change) => {
      for (const meanwhile of [undefined, (memoryId: string) => other.deleteMessages(memoryId)]) {
        const { proxy, store } = await lossy();
        const memoryId = randomUUID();
        const call = await change(store, memoryId);
        proxy.loseAnswer("TransactWriteItems", async () => meanwhile?.(memoryId));
        await call();
        const { version } = await other.getMessages(memoryId);
        if (meanwhile === undefined) expect(version).not.toBeNull();
        else {
          expect(version).toBeNull();
          await other.sweep();
          expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toEqual([]);
          expect(await itemsBeside(client, tableName, memoryId)).toEqual([]);
        }
      }
    },
  );

  test("which deletes a memory: the next life of its id stays", async () => {
    const { proxy, store } = await lossy();
    const memoryId = randomUUID();
    await begun(store, memoryId, inRows(1, 4));
    proxy.loseAnswer("TransactWriteItems", () => begun(other, memoryId, messages(1, 1)));
    await store.deleteMessages(memoryId);
    expect((await other.getMessages(memoryId)).messages).toEqual(messages(1, 1));
    expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toHaveLength(1);
  });
});

test.each(["GetItem", "Query"])("a read whose connection breaks is repeated: %s", async (operation) => {
  const memoryId = randomUUID();
  await begun(other, memoryId, inRows(1, 4));
  for (const newClient of [
    (config: ReturnType<typeof configOf>) => new DynamoDBClient({ ...config, maxAttempts: 1 }),
    ...clients.map(([, one]) => one),
  ]) {
    const { proxy, store } = await lossy(newClient as NewClient);
    proxy.loseAnswer(operation);
    expect((await store.getMessages(memoryId)).messages).toHaveLength(4);
  }
});
