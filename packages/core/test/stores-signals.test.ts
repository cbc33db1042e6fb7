import { getEventListeners } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import {
  type CallOptions,
  type ChatMemory,
  type ChatMemoryOptions,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  user,
} from "../src/index.ts";
import { callDriver, onAbort } from "../src/store-kit.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("who waits for a memory's signal by the kit is told in time, and costs it no listener", async () => {
  const told = [vi.fn(), vi.fn(), vi.fn()] as const;
  let listeners: unknown[] = [];
  /** The driver never answers. */
  const getMessages = (_: string, { signal }: CallOptions = {}): Promise<never> => {
    const answer = callDriver("mute", () => new Promise<never>(() => {}), signal);
    if (signal === undefined) return answer;
    onAbort(signal, told[0]);
    const stop = onAbort(signal, told[1]);
    signal.addEventListener("abort", told[2]);
    stop();
    listeners = getEventListeners(signal, "abort");
    return answer;
  };
  const memory = createChatMemory({ id: "a", store: { ...inMemoryStore(), getMessages }, timeoutMs: 30 });
  await expect(memory.messages()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(listeners).toEqual([told[2]]);
  expect(told.map((callback) => callback.mock.calls.length)).toEqual([1, 0, 1]);
});

test("a callback that has been stopped by another one is not called", () => {
  const controller = new AbortController();
  const second = vi.fn();
  let stop = (): void => {};
  onAbort(controller.signal, () => stop());
  stop = onAbort(controller.signal, second);
  controller.abort();
  expect(second).not.toHaveBeenCalled();
});

test("a callback that throws keeps nobody else from being told, and is reported", () => {
  const reported: (() => void)[] = [];
  vi.spyOn(globalThis, "queueMicrotask").mockImplementation((report) => reported.push(report));
  const controller = new AbortController();
  const second = vi.fn();
  onAbort(controller.signal, () => {
    throw new Error("mine");
  });
  onAbort(controller.signal, second);
  controller.abort();
  expect(second).toHaveBeenCalledOnce();
  expect(reported).toHaveLength(1);
  expect(reported[0]).toThrow("mine");
});

test("a signal that another realm made is a signal", async () => {
  const listeners = { addEventListener: () => {}, removeEventListener: () => {} };
  const signal = { aborted: false, ...listeners } as unknown as AbortSignal;
  await expect(callDriver("any", () => "answer", signal)).resolves.toBe("answer");
  const fired = { ...signal, aborted: true };
  await expect(callDriver("any", () => "answer", fired)).rejects.toMatchObject({ code: "ABORTED" });
});

/** How many timers a memory makes, each with a signal, for a message that is added and a view that is read. */
async function timers(options: ChatMemoryOptions<ModelMessage>): Promise<number> {
  const memory = createChatMemory(options);
  await memory.add(user("a"));
  const made = vi.spyOn(globalThis, "setTimeout");
  await memory.add(user("b"));
  await memory.messages();
  return made.mock.calls.length;
}

test.each<[string, ChatMemoryOptions<ModelMessage>]>([
  ["without a store", {}],
  ["with a window", { id: "a", store: inMemoryStore(), window: { maxMessages: 1 } }],
  ["over a copy of a store", { id: "a", store: { ...inMemoryStore() } }],
])("a call that cannot wait has no timer and no signal: %s", async (_, options) => {
  expect(await timers(options)).toBe(0);
});

test.each<[string, ChatMemoryOptions<ModelMessage>]>([
  ["a store that may", { id: "a", store: { ...inMemoryStore(), ...later(inMemoryStore()) } }],
  ["a limit that the application is asked for", { window: { maxMessages: async () => 10 } }],
])("a call that may wait has both: %s", async (_, options) => {
  expect(await timers(options)).toBe(2);
});

test("a processor is given the call's signal, and the call gets a timer with it", async () => {
  const given: AbortSignal[] = [];
  const process = (messages: readonly ModelMessage[], { signal }: { readonly signal: AbortSignal }) => {
    given.push(signal);
    return messages;
  };
  expect(await timers({ processors: [{ name: "watching", process }] })).toBe(1);
  expect(given[0]?.aborted).toBe(false);
});

/** The same reads and writes, which may wait. */
function later({ getMessages, updateMessages }: ChatMemoryStore): Partial<ChatMemoryStore> {
  return {
    getMessages: async (...args) => getMessages(...args),
    updateMessages: async (...args) => updateMessages(...args),
  };
}

test.each<[string, (memory: ChatMemory<ModelMessage>) => Promise<unknown>, ChatMemoryOptions<ModelMessage>]>([
  ["a limit that is never answered", (memory) => memory.messages(), { window: { maxMessages: never } }],
  [
    "a limit that is never answered, for a change",
    (memory) => memory.add(user("a")),
    { window: { maxMessages: never } },
  ],
  [
    "a processor that never answers",
    (memory) => memory.messages(),
    { processors: [{ name: "mute", process: never }] },
  ],
])("time ends a call that waits for %s, over a store that never does", async (_, call, options) => {
  const memory = createChatMemory({ ...options, timeoutMs: 30 });
  await expect(call(memory)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});

test("time ends a call of a store whose method was replaced after the memory was made", async () => {
  const store = inMemoryStore();
  const memory = createChatMemory({ id: "a", store, timeoutMs: 30 });
  await memory.add(user("a"));
  store.updateMessages = never;
  await expect(memory.add(user("b"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});

function never(): Promise<never> {
  return new Promise<never>(() => {});
}
