import { getEventListeners } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { type CallOptions, createChatMemory, inMemoryStore } from "../src/index.ts";
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
