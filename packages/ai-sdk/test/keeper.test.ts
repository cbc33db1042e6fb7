import { type ChatMemory, TurnkeepError } from "@turnkeep/core";
import { gate } from "@turnkeep/store-tests/gate";
import type { UIMessage } from "ai";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Keeper, keepEveryMs } from "../src/chat-handler/keeper.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const state = (text: string): UIMessage => ({ id: "a", role: "assistant", parts: [{ type: "text", text }] });
const textOf = ({ parts }: UIMessage): string => (parts[0] as { text: string }).text;

/** A keeper, and what it has written. */
function keeping(put: (text: string) => Promise<void> = async () => undefined) {
  const written: string[] = [];
  let gone = 0;
  const memory = {
    put: async (_: string, message: UIMessage) => {
      written.push(textOf(message));
      await put(textOf(message));
    },
  } as unknown as ChatMemory<UIMessage>;
  const keeper = new Keeper(memory, "a", () => gone++);
  return { keeper, written, gone: () => gone };
}

test("of many states the newest is written, once in an interval", async () => {
  const { keeper, written } = keeping();
  for (const text of ["1", "2", "3"]) keeper.note(state(text));
  expect(written).toEqual([]);
  await vi.advanceTimersByTimeAsync(keepEveryMs);
  expect(written).toEqual(["3"]);
  await vi.advanceTimersByTimeAsync(10 * keepEveryMs);
  expect(written).toEqual(["3"]);
  keeper.note(state("4"));
  await vi.advanceTimersByTimeAsync(keepEveryMs);
  expect(written).toEqual(["3", "4"]);
});

test("one write at a time: what comes during one is written after it", async () => {
  const { opened, open } = gate();
  const { keeper, written } = keeping(() => opened);
  keeper.note(state("1"));
  await vi.advanceTimersByTimeAsync(keepEveryMs);
  for (const text of ["2", "3"]) keeper.note(state(text));
  await vi.advanceTimersByTimeAsync(10 * keepEveryMs);
  expect(written).toEqual(["1"]);
  open();
  await vi.advanceTimersByTimeAsync(keepEveryMs);
  expect(written).toEqual(["1", "3"]);
});

test("the end waits for the write under way, and nothing is written after it", async () => {
  const { opened, open } = gate();
  const { keeper, written } = keeping((text) => (text === "1" ? opened : Promise.resolve()));
  keeper.note(state("1"));
  await vi.advanceTimersByTimeAsync(keepEveryMs);
  keeper.note(state("2"));
  const end = keeper.end(state("whole"));
  await vi.advanceTimersByTimeAsync(10 * keepEveryMs);
  expect(written).toEqual(["1"]);
  open();
  await end;
  await vi.advanceTimersByTimeAsync(10 * keepEveryMs);
  expect(written).toEqual(["1", "whole"]);
});

test("an answer that is over keeps no process alive", async () => {
  const { keeper, written } = keeping();
  keeper.note(state("1"));
  await keeper.end(state("whole"));
  expect(vi.getTimerCount()).toBe(0);
  expect(written).toEqual(["whole"]);
});

test("a store that is away for a moment loses nothing, one that is away at the end is told", async () => {
  let away = true;
  const { keeper, written } = keeping(async () => {
    if (away) throw new TurnkeepError("STORE_UNAVAILABLE", "away");
  });
  keeper.note(state("1"));
  await vi.advanceTimersByTimeAsync(keepEveryMs);
  away = false;
  keeper.note(state("2"));
  await vi.advanceTimersByTimeAsync(keepEveryMs);
  expect(written).toEqual(["1", "2"]);
  away = true;
  await expect(keeper.end(state("whole"))).rejects.toThrow("away");
});

test("what a store that was away did not take is written once it is back, though nothing more is said", async () => {
  let away = true;
  const { keeper, written } = keeping(async () => {
    if (away) throw new TurnkeepError("STORE_UNAVAILABLE", "away");
  });
  keeper.note(state("a call of a tool that takes long"));
  await vi.advanceTimersByTimeAsync(keepEveryMs);
  away = false;
  await vi.advanceTimersByTimeAsync(10 * keepEveryMs);
  expect(written).toHaveLength(2);
  await keeper.end(state("whole"));
});

test.each(["NOT_FOUND", "ID_CONFLICT", "OWNER_MISMATCH", "TURN_LOST"] as const)(
  "an answer that is wanted no more is written no more: %s",
  async (code) => {
    const { keeper, written, gone } = keeping(async () => {
      throw new TurnkeepError(code, "gone");
    });
    keeper.note(state("1"));
    await vi.advanceTimersByTimeAsync(keepEveryMs);
    expect(gone()).toBe(1);
    keeper.note(state("2"));
    await vi.advanceTimersByTimeAsync(keepEveryMs);
    await keeper.end(state("whole"));
    expect(written).toEqual(["1"]);
  },
);
