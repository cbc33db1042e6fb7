import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistant,
  createChatMemory,
  entry,
  inMemoryStore,
  isTurnkeepError,
  type MemoryEvent,
  type Processor,
  system,
  toolCall,
  toolResult,
  user,
  viewOf,
} from "../src/index.ts";
import { conversationEvent, messageOf } from "./conversations.ts";
import { besideChanges } from "./events.ts";
import { characterCounter as counter } from "./window-reference.ts";

const windows = fc.record({
  maxTokens: fc.integer({ min: 30, max: 250 }),
  counter: fc.constant(counter),
  unit: fc.constantFrom("step" as const, "turn" as const, "message" as const),
  overflow: fc.constantFrom("throw" as const, "keep" as const, "evict" as const),
  target: fc.option(fc.constantFrom(0.3, 0.7, 1), { nil: undefined }),
});

/** What a promise comes to: a list, or the code of an error. */
const outcome = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error: unknown) => (isTurnkeepError(error) ? error.code : error));

describe("viewOf", () => {
  test("shows what a memory shows to which the messages were added one after the other", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(conversationEvent, { maxLength: 30 }), windows, async (events, window) => {
        const memory = createChatMemory({ window });
        const kept = events.map(messageOf);
        for (const message of kept) await memory.add(message as never);
        expect(await outcome(viewOf(kept, { window }))).toEqual(await outcome(memory.messages()));
      }),
    );
  });

  test("cuts a list that has grown where it was cut before", async () => {
    const window = { maxTokens: 100, counter };
    const kept = Array.from({ length: 40 }, (_, index) => user(`${index} ${"x".repeat(10)}`));
    const beginnings = new Set<unknown>();
    for (let length = 20; length <= 40; length++) {
      beginnings.add(JSON.stringify((await viewOf(kept.slice(0, length), { window }))[0]));
    }
    // One that slides would begin anew each time.
    expect(beginnings.size).toBeLessThan(10);
  });

  test("runs processors, repairs, and tells what it repaired", async () => {
    const events: MemoryEvent[] = [];
    const shout: Processor<never> = {
      name: "shout",
      process: (messages) => messages.map((message: object) => ({ ...message, loud: true })) as never,
    };
    const kept = [
      user("Weather?"),
      toolCall("c", "weather", {}),
      user("And now?"),
      toolResult("gone", "t", ""),
    ];
    const view = await viewOf(kept, { processors: [shout], onEvent: besideChanges(events) });
    expect(view.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(view.every((message) => "loud" in message)).toBe(true);
    expect(events.map(({ type }) => type)).toEqual(["repaired"]);
  });

  test("leaves no call open of a list that is to be sent", async () => {
    const kept = [user("Weather?"), toolCall("c", "weather", {})];
    expect(await viewOf(kept)).toEqual(kept);
    expect((await viewOf(kept, { openCalls: "approved" })).map(({ role }) => role)).toEqual([
      ...["user", "assistant", "tool"],
    ]);
    await expect(viewOf(kept, { openCalls: "none" as never })).rejects.toThrow("openCalls");
  });

  test("leaves the list as it is, and shows copies that cannot be changed", async () => {
    const kept = [system("Brief."), user([{ type: "text", text: "Hello" }])];
    const before = structuredClone(kept);
    const view = await viewOf(kept);
    expect(view).toEqual(before);
    expect(kept).toEqual(before);
    expect(Object.isFrozen(view[1])).toBe(true);
    expect(view[1]).not.toBe(kept[1]);
    expect(await viewOf([])).toEqual([]);
  });

  test("takes entries: the same id with the same content is one message, with other content an error", async () => {
    const hello = entry(user("Hello"), { id: "a" });
    expect(await viewOf([hello, hello])).toEqual([user("Hello")]);
    await expect(viewOf([hello, entry(user("Bye"), { id: "a" })])).rejects.toMatchObject({
      code: "ID_CONFLICT",
    });
  });

  test("asks a limit once, and waits for it no longer than the caller does", async () => {
    let asked = 0;
    const maxMessages = (): number => {
      asked += 1;
      return 1;
    };
    expect(await viewOf([user("one"), user("two")], { window: { maxMessages } })).toEqual([user("two")]);
    expect(asked).toBe(1);
    const never = (): Promise<number> => new Promise(() => {});
    const caller = new AbortController();
    const waiting = outcome(viewOf([user("one")], { window: { maxMessages: never }, signal: caller.signal }));
    caller.abort();
    expect(await waiting).toBe("ABORTED");
    expect(await outcome(viewOf([user("one")], { window: { maxMessages: never }, timeoutMs: 1 }))).toBe(
      "STORE_UNAVAILABLE",
    );
  });

  test("refuses what it cannot serve", async () => {
    const summarize = (): undefined => undefined;
    await expect(viewOf([user("a")], { window: { maxMessages: 1, summarize } })).rejects.toThrow(
      "viewOf has nowhere to keep a summary",
    );
    await expect(viewOf("hello" as never)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(viewOf([{ role: "user" } as never])).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
    await expect(viewOf([user("x".repeat(99))], { window: { maxTokens: 9, counter } })).rejects.toMatchObject(
      {
        code: "WINDOW_OVERFLOW",
      },
    );
    await expect(viewOf([], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    // @ts-expect-error misspelt
    await expect(viewOf([], { windows: { maxMessages: 1 } })).rejects.toThrow("windows");
  });
});

describe("entries", () => {
  test("are the live messages with id, place, time and state, unshaped", async () => {
    const memory = createChatMemory({ window: { maxMessages: 3 }, repair: false });
    const ids = await memory.add(system("Brief."), user("One"), assistant("Two"), user("Three"));
    await memory.add(entry(toolCall("c", "t", {}), { id: "call", createdAt: 5 }));
    const entries = await memory.entries();
    expect(entries.map(({ id, seq, state }) => [id, seq, state])).toEqual([
      [ids[0], 1, "live"],
      [ids[3], 4, "live"],
      ["call", 5, "live"],
    ]);
    expect(entries[2]?.createdAt).toBe(5);
    expect(entries[2]?.message).toEqual(toolCall("c", "t", {}));
  });

  test("count as a look: a set on what they showed is refused once somebody else wrote", async () => {
    const store = inMemoryStore();
    const one = createChatMemory({ id: "chat", store });
    const other = createChatMemory({ id: "chat", store });
    await one.entries();
    await other.add(user("Meanwhile"));
    await expect(one.set([user("Instead")])).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect((await one.entries()).map(({ message }) => message)).toEqual([user("Meanwhile")]);
  });
});
