import { describe, expect, test, vi } from "vitest";
import type { ChatMemoryStore, MemoryUpdate, StoreCapabilities } from "../src/index.ts";
import { defineStore, type FoldedUpdate, type ListedMemory, type ListPositions } from "../src/store-kit.ts";
import type { StoreMethods } from "../src/stores/define-store.ts";
import { message, update } from "./stores-support.ts";

const all: StoreCapabilities = {
  durable: false,
  shared: false,
  history: true,
  list: true,
  newest: true,
  ttl: false,
  delta: true,
  readSteps: 1,
  maxMessageBytes: 100,
};

/** What a method makes its calls with: here, only the signal that they end with. */
interface Calls {
  readonly signal: AbortSignal | undefined;
}

/** A store whose methods note what they are given, and answer nothing. */
function noted({
  capabilities = all,
  positions,
  ...answers
}: Partial<StoreMethods<Calls>> & {
  capabilities?: StoreCapabilities | undefined;
  positions?: ListPositions | undefined;
} = {}) {
  type Method<Name extends keyof StoreMethods<Calls>> = NonNullable<StoreMethods<Calls>[Name]>;
  const methods = {
    read: vi.fn<Method<"read">>(answers.read ?? (() => undefined)),
    update: vi.fn<Method<"update">>(answers.update ?? (() => undefined)),
    remove: vi.fn<Method<"remove">>(answers.remove ?? (() => undefined)),
    history: vi.fn<Method<"history">>(answers.history ?? (() => undefined)),
    list: vi.fn<Method<"list">>(answers.list ?? (() => [])),
    sweep: vi.fn<Method<"sweep">>(answers.sweep ?? (() => 0)),
  };
  const connection = {
    under: vi.fn((signal: AbortSignal | undefined): Calls => ({ signal })),
    close: vi.fn(async () => {}),
  };
  const defined = defineStore({ name: "notedStore", capabilities, connection, positions }, methods);
  return { ...defined, methods, connection };
}

const good = (): MemoryUpdate => update(null, { append: [message(1)] });
const bad = (): MemoryUpdate => ({ ...good(), nextSeq: 0 });

/** Every call, with arguments that are all right or all wrong. */
function everyCall(store: ChatMemoryStore, isRight: boolean, signal?: AbortSignal) {
  const id = isRight ? "a" : "";
  const query = isRight ? {} : { limit: 0 };
  return {
    getMessages: () => store.getMessages(id, { signal }),
    updateMessages: () => store.updateMessages(id, isRight ? good() : bad(), { signal }),
    deleteMessages: () => store.deleteMessages(id, { signal }),
    getHistory: () => store.getHistory(id, query, { signal }),
    listMemories: () => store.listMemories(query, { signal }),
    sweep: () => store.sweep({ signal }),
  };
}

/** The codes of the errors with which calls end, each once; `fulfilled` for one that ends well. */
async function codesOf(calls: Readonly<Record<string, () => Promise<unknown>>>): Promise<unknown[]> {
  const settled = await Promise.allSettled(Object.values(calls).map((call) => call()));
  return [...new Set(settled.map((one) => (one.status === "rejected" ? one.reason.code : one.status)))];
}

/** The methods that were called. */
function asked(methods: ReturnType<typeof noted>["methods"]): string[] {
  return Object.entries(methods).flatMap(([name, method]) => (method.mock.calls.length > 0 ? name : []));
}

describe("what stands in the way of a call is said in one order, before the database is asked", () => {
  test("closed, aborted, wrong arguments", async () => {
    const { store, methods } = noted();
    const fired = AbortSignal.abort();
    expect(await codesOf(everyCall(store, false, fired))).toEqual(["ABORTED"]);
    const { sweep: _, ...withArguments } = everyCall(store, false);
    expect(await codesOf(withArguments)).toEqual(["INVALID_OPTION"]);
    await store.close();
    expect(await codesOf(everyCall(store, false, fired))).toEqual(["CLOSED"]);
    expect(asked(methods)).toEqual([]);
  });

  test("the memory's id before the rest", async () => {
    const { store } = noted();
    const says = "A memory id must";
    await expect(store.updateMessages("", bad())).rejects.toThrow(says);
    const tooLarge = update(null, { append: [message(1, { payload: `"${" ".repeat(100)}"` })] });
    await expect(store.updateMessages("", tooLarge)).rejects.toThrow(says);
    await expect(store.updateMessages("a", tooLarge)).rejects.toMatchObject({ code: "MESSAGE_TOO_LARGE" });
    await expect(store.getHistory("", { limit: 0 })).rejects.toThrow(says);
  });

  test("last what the store cannot serve, even if there is a method for it", async () => {
    const { store, methods } = noted({ capabilities: { ...all, history: false, list: false } });
    for (const [limit, code] of [
      [0, "INVALID_OPTION"],
      [1, "UNSUPPORTED"],
    ] as const) {
      await expect(store.getHistory("a", { limit })).rejects.toMatchObject({ code });
      await expect(store.listMemories({ limit })).rejects.toMatchObject({ code });
    }
    expect(asked(methods)).toEqual([]);
  });

  test("an order that the store cannot serve, and an update's time to live", async () => {
    const { store, methods } = noted({ capabilities: { ...all, newest: false } });
    const refused = { code: "UNSUPPORTED" };
    await expect(store.listMemories({ order: "newest" })).rejects.toMatchObject(refused);
    await expect(store.updateMessages("a", { ...good(), ttlMs: null })).rejects.toMatchObject(refused);
    await expect(store.updateMessages("a", { ...good(), ttlMs: 0 })).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
    expect(asked(methods)).toEqual([]);
  });
});

describe("a method gets", () => {
  test("calls that end with the caller's signal, and what the caller knows or expects", async () => {
    const { store, methods, enter } = noted();
    const { signal } = new AbortController();
    expect(await codesOf(everyCall(store, true, signal))).toEqual(["fulfilled"]);
    for (const method of Object.values(methods)) expect(method.mock.calls[0]?.[0]).toEqual({ signal });
    await store.getMessages("a", { known: "v1" });
    await store.deleteMessages("a", { expected: "v2" });
    expect(methods.read.mock.lastCall?.slice(1)).toEqual(["a", "v1"]);
    expect(methods.remove.mock.lastCall?.slice(1)).toEqual(["a", "v2"]);
    expect(enter({ signal })).toEqual({ signal });
  });

  test("an update folded into the change of each row, which the caller cannot change", async () => {
    let given: FoldedUpdate | undefined;
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { store } = noted({
      async update(_calls, _memoryId, folded) {
        await begun;
        given = structuredClone(folded);
      },
    });
    const sent = update("v1", {
      append: [message(2), message(3)],
      move: [
        { seq: 1, to: "evicted" },
        { seq: 2, to: "removed" },
      ],
    });
    const expected = structuredClone(sent);
    const call = store.updateMessages("a", sent);
    Object.assign(sent, { version: "other", owner: "somebody" });
    for (const one of sent.append) one.payload = '"changed"';
    sent.append.pop();
    sent.move.length = 0;
    begin();
    await call;
    expect(given).toMatchObject({
      version: expected.version,
      insert: [{ ...expected.append[1], state: "live" }],
      first: 2,
      replaced: [],
      moved: [{ seq: 1, state: "evicted" }],
    });
    expect(given?.owner).toBeUndefined();
  });

  test("an update that removes what leaves, where the store keeps no history", async () => {
    const { store, methods } = noted({ capabilities: { ...all, history: false } });
    await store.updateMessages("a", update("v1", { nextSeq: 3, move: [{ seq: 1, to: "evicted" }] }));
    expect(methods.update.mock.lastCall?.[2]).toMatchObject({ moved: [{ seq: 1, state: "removed" }] });
  });

  test("queries with their defaults", async () => {
    const { store, methods } = noted();
    await store.getHistory("a", { after: 3 });
    await store.listMemories({});
    expect(methods.history.mock.lastCall?.[2]).toMatchObject({ after: 3, order: "ascending", limit: 100 });
    expect(methods.list.mock.lastCall?.[1]).toEqual({
      owner: undefined,
      order: "stored",
      after: undefined,
      limit: 100,
    });
  });
});

describe("a call answers", () => {
  test("what the method does; nothing is an absent memory", async () => {
    const page = { messages: [], hasMore: true };
    const snapshot = { version: "v1", nextSeq: 2, messages: [] };
    const { store } = noted({ read: async () => snapshot, history: () => page, sweep: async () => 3 });
    expect(await store.getMessages("a")).toBe(snapshot);
    expect(await store.getHistory("a", {})).toBe(page);
    expect(await store.sweep()).toEqual({ removed: 3 });
    const { store: empty } = noted();
    expect(await empty.getMessages("a")).toEqual({ version: null, nextSeq: 1, messages: [] });
    expect(await empty.getHistory("a", {})).toEqual({ messages: [], hasMore: false });
  });

  test("pages with cursors of the store's positions", async () => {
    const memories: ListedMemory[] = ["7", "8", "9"].map((position) => ({
      memoryId: `m${position}`,
      owner: undefined,
      updatedAt: 1,
      position,
    }));
    const { store, methods } = noted({ list: () => memories, positions: { stored: /^\d+$/ } });
    const { cursor, ...page } = await store.listMemories({ limit: 2 });
    expect(page.memories.map(({ memoryId }) => memoryId)).toEqual(["m7", "m8"]);
    await store.listMemories({ cursor, owner: "o" });
    expect(methods.list.mock.lastCall?.[1]).toEqual({
      ...{ owner: "o", order: "stored", after: "8", limit: 100 },
    });
    const { cursor: other } = await noted({
      list: () => memories.map((one) => ({ ...one, position: "no number" })),
    }).store.listMemories({ limit: 1 });
    await expect(store.listMemories({ cursor: other })).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  test("by a promise, also where the method throws at once", async () => {
    const { store } = noted({
      read: () => {
        throw new Error("at once");
      },
    });
    await expect(store.getMessages("a")).rejects.toThrow("at once");
  });
});

test.each(["close", Symbol.asyncDispose] as const)(
  "%s closes once, and later calls are CLOSED",
  async (close) => {
    const { store, enter, connection } = noted();
    const closing = store[close]();
    expect(store.close()).toBe(closing);
    expect(store[Symbol.asyncDispose]()).toBe(closing);
    expect(connection.close).toHaveBeenCalledOnce();
    expect(await codesOf(everyCall(store, true))).toEqual(["CLOSED"]);
    expect(() => enter(undefined)).toThrow("notedStore was closed");
  },
);

test("a further method is refused as every call is", () => {
  expect(() => noted().enter({ signal: AbortSignal.abort() })).toThrow(
    expect.objectContaining({ code: "ABORTED" }),
  );
});

test.each(["history", "list"] as const)("a store that declares %s must have a method for it", (name) => {
  const methods = { read: () => undefined, update: () => {}, remove: () => {}, sweep: () => 0 };
  const connection = { under: () => undefined, close: async () => {} };
  const none = { ...all, history: false, list: false };
  const define = (capabilities: StoreCapabilities) =>
    defineStore({ name: "smallStore", capabilities, connection }, methods);
  expect(() => define({ ...none, [name]: true })).toThrow(`smallStore declares the capability ${name}`);
  expect(define(none).store.capabilities).toBe(none);
});
