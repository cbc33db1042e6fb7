import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryOptions,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  type MemoryEvent,
  type ModelMessageLike,
  type ProviderProfile,
  type Shrunk,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";
import { audited, Ledger, states, textOf, texts } from "./summarize-support.ts";
import { characterCounter } from "./window-reference.ts";

type Options = Partial<ChatMemoryOptions<ModelMessageLike>>;

const remembering = (options: Options = {}): ChatMemory<ModelMessageLike> =>
  createChatMemory<ModelMessageLike>({ ...options } as { format?: undefined });

const tens = (from: number, to: number): ModelMessageLike[] =>
  Array.from({ length: to - from + 1 }, (_, index) => user(`${from + index}`.padEnd(10, ".")));

describe("shrink", () => {
  test("the oldest leave for history until the view has 70 % of its size; works without a window", async () => {
    const store = inMemoryStore();
    const events: MemoryEvent[] = [];
    const memory = remembering({ id: "m", store, onEvent: besideChanges(events) } as Options);
    await memory.add(system("s".repeat(10)));
    const ids = await memory.add(...tens(1, 9));
    const epoch = async (): Promise<number> => JSON.parse((await store.getMessages("m")).head ?? "").epoch;
    const before = await epoch();
    expect(await memory.shrink()).toEqual({
      messageIds: ids.slice(0, 3),
      messagesBefore: 10,
      messagesAfter: 7,
      tokensBefore: undefined,
      tokensAfter: undefined,
    });
    expect(await memory.messages()).toEqual([system("s".repeat(10)), ...tens(4, 9)]);
    expect((await states(memory)).filter((state) => state.endsWith(" evicted"))).toHaveLength(3);
    expect(events).toEqual([
      { type: "evicted", memoryId: "m", messageIds: ids.slice(0, 3), reason: "shrink" },
    ]);
    expect(await epoch()).toBe(before + 1);
  });

  test("a limit is asked once", async () => {
    let asked = 0;
    const maxMessages = (): number => {
      asked++;
      return 10;
    };
    const memory = remembering({ window: { maxMessages } });
    await memory.add(...tens(1, 9));
    asked = 0;
    expect(await memory.shrink()).toMatchObject({ messagesBefore: 9 });
    expect(asked).toBe(1);
  });

  test("of a step that the window shows in part, each message leaves once", async () => {
    let limit = 10;
    const memory = remembering({ window: { maxMessages: () => limit, unit: "message" } });
    const [call, , result] = await memory.add(
      toolCall("c", "look", {}),
      user("1"),
      toolResult("c", "look", "r"),
      user("2"),
      user("3"),
    );
    limit = 4;
    expect(await memory.shrink()).toMatchObject({
      messageIds: [call, result],
      messagesBefore: 4,
      messagesAfter: 3,
    });
  });

  test("in tokens with a counter, and down to the target that is given", async () => {
    const memory = remembering({ window: { maxTokens: 1000, counter: characterCounter } });
    await memory.add(...tens(1, 10));
    expect(await memory.shrink({ target: 0.5 })).toMatchObject({
      messagesBefore: 10,
      messagesAfter: 5,
      tokensBefore: 130,
      tokensAfter: 65,
    });
    expect(await memory.shrink({ target: 0.99 })).toMatchObject({ messagesBefore: 5, messagesAfter: 4 });
    const free = remembering({ window: { maxMessages: 9, counter: { name: "free", count: () => 0 } } });
    await free.add(...tens(1, 3));
    expect(await free.shrink()).toMatchObject({ messagesAfter: 2, tokensAfter: 0 });
    const few = remembering({ window: { maxMessages: 100, counter: characterCounter } });
    await few.add(user("x".repeat(97)), ...tens(1, 10));
    expect(await few.shrink()).toMatchObject({ messagesAfter: 10, tokensBefore: 230, tokensAfter: 130 });
  });

  test("without a counter by text, so that one step gets rid of a result that is most of the prompt", async () => {
    const memory = remembering();
    await memory.add(...tens(1, 5));
    await memory.add(toolCall("c", "read", {}), toolResult("c", "read", "x".repeat(50_000)));
    await memory.add(...tens(6, 10));
    expect(await memory.shrink()).toMatchObject({ messagesBefore: 12, messagesAfter: 5 });
    const image = { type: "file" as const, mediaType: "image/png", data: "aGk=" };
    const seen = remembering();
    await seen.add(user([image]), user([image]), user("x".repeat(4000)), user("x".repeat(4000)));
    expect(await seen.shrink({ target: 0.5 })).toMatchObject({ messagesAfter: 2 });
  });

  test("the system message, the newest step and what is pinned stay; nothing left is false, and a loop ends", async () => {
    const memory = remembering({
      window: { maxMessages: 50, pinned: (message) => textOf(message) === "pinned" },
    });
    await memory.add(system("s"), user("q"), user("pinned"), ...tens(1, 20));
    const kept = [toolCall("c", "look", {}), toolResult("c", "look", "r")];
    await memory.add(...kept);
    const done: (Shrunk | false)[] = [];
    for (let last: Shrunk | false | undefined; last !== false; done.push(last)) last = await memory.shrink();
    expect(await memory.messages()).toEqual([system("s"), user("pinned"), ...kept]);
    expect(done.at(-1)).toBe(false);
    for (const [index, step] of done.slice(0, -1).entries()) {
      if (step === false) throw new Error("went on after false");
      expect(step.messagesAfter).toBeLessThan(step.messagesBefore);
      const next = done[index + 1];
      if (next !== undefined && next !== false) expect(next.messagesBefore).toBe(step.messagesAfter);
    }
    expect(await states(memory)).toHaveLength(25);
    const version = await memory.history();
    expect(await memory.shrink()).toBe(false);
    expect(await memory.history()).toEqual(version);
    expect(await remembering().shrink()).toBe(false);
    const full = remembering({ window: { maxTokens: 20, counter: characterCounter } });
    await full.add(user("far too long for this window"));
    await expect(full.messages()).rejects.toMatchObject({ code: "WINDOW_OVERFLOW" });
    expect(await full.shrink()).toBe(false);
  });

  test("with unit turn whole turns leave, then what is between the newest question and its newest step", async () => {
    const memory = remembering({ window: { maxMessages: 50, unit: "turn" } });
    await memory.add(user("question 1"), assistant("answer 1"), user("question 2"), assistant("answer 2"));
    await memory.add(user("question 3"), assistant("step 1"), assistant("step 2"), assistant("step 3"));
    await memory.shrink({ target: 0.9 });
    expect((await texts(memory))[0]).toBe("question 2");
    await memory.shrink({ target: 0.5 });
    expect(await texts(memory)).toEqual(["question 3", "step 2", "step 3"]);
    await memory.shrink({ target: 0.9 });
    expect(await texts(memory)).toEqual(["question 3", "step 3"]);
    expect(await memory.shrink()).toBe(false);
  });

  test("what the window hides leaves as well: it must not come back in the room that is made", async () => {
    let limit = 100;
    const memory = remembering({ window: { maxMessages: () => limit } });
    await memory.add(...tens(1, 10));
    limit = 5;
    expect(await memory.shrink()).toMatchObject({ messagesBefore: 5, messagesAfter: 3 });
    limit = 100;
    expect(await memory.messages()).toEqual(tens(8, 10));
  });

  test("what the view hides to make room for what a profile adds counts as hidden", async () => {
    const opened: ProviderProfile = {
      name: "opened",
      firstMessage: "any",
      reasoning: "any",
      shape: (messages, { textMessage }) => {
        const opening = textMessage?.("user", "opening");
        return { messages: opening === undefined ? [...messages] : [opening, ...messages], stages: [] };
      },
    };
    const memory = remembering({ profile: opened, window: { maxMessages: 5 } });
    await memory.add(...tens(1, 5));
    expect(await memory.messages()).toHaveLength(5);
    expect(await memory.shrink({ target: 0.9 })).toMatchObject({ messagesBefore: 4, messagesAfter: 3 });
    expect((await memory.messages()).slice(1)).toEqual(tens(3, 5));
  });

  test("a derived message stays where it is all that is shown", async () => {
    const memory = remembering();
    const [, first] = await memory.add(system("s"), user("a"));
    await memory.compact({ through: first, replacement: user("sum") });
    expect(await memory.shrink()).toBe(false);
    expect(await memory.messages()).toHaveLength(2);
    await memory.add(user("b"));
    expect(await memory.shrink()).toMatchObject({ messagesBefore: 3, messagesAfter: 2 });
  });

  test("a derived message leaves when nothing else can; what is being summarized is left to nobody twice", async () => {
    const memory = remembering();
    const ids = await memory.add(...tens(1, 3));
    await memory.compact({ through: ids[1] as string, replacement: user("sum") });
    await memory.add(...tens(4, 4));
    expect(await memory.shrink()).toMatchObject({ messagesBefore: 3, messagesAfter: 2 });
    expect(await texts(memory)).toEqual(["sum", textOf(tens(4, 4)[0] as ModelMessageLike)]);
    expect(await memory.shrink()).toMatchObject({ messageIds: [], messagesAfter: 1 });
    expect(await memory.shrink()).toBe(false);

    const ledger = new Ledger();
    const store = audited(inMemoryStore(), ledger);
    const summarizing: ChatMemory<ModelMessageLike> = remembering({
      id: "m",
      store,
      window: {
        maxMessages: 6,
        target: 0.5,
        summarize: async (evicted) => {
          await summarizing.shrink();
          return ledger.answerFor(evicted);
        },
      },
    } as Options);
    await summarizing.add(...tens(1, 7));
    expect(await summarizing.messages()).toEqual(tens(4, 7));
    expect(store.summaries).toEqual([]);
    expect(await states(summarizing)).toHaveLength(7);
  });

  test.each([0, 1, -1, 1.5, Number.NaN, "0.5" as never])("refuses the target %s", async (target) => {
    const memory = remembering();
    await memory.add(...tens(1, 5));
    await expect(memory.shrink({ target })).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining(String(target)) as string,
    });
    expect(await memory.messages()).toHaveLength(5);
  });

  test("two at once make one step each of their own view, not two of one; nothing added meanwhile is lost", async () => {
    const store = inMemoryStore();
    const ours = remembering({ id: "m", store } as Options);
    const theirs = remembering({ id: "m", store } as Options);
    await ours.add(...tens(1, 10));
    await theirs.messages();
    const first = await ours.shrink();
    expect(first).toMatchObject({ messagesBefore: 10, messagesAfter: 7 });
    // The other's state is the one that was refused: seven of ten are what it asked for.
    expect(await theirs.shrink()).toEqual({ ...(first as Shrunk), messageIds: [] });
    expect(await theirs.messages()).toEqual(tens(4, 10));
    await ours.add(...tens(11, 12));
    expect(await theirs.shrink({ target: 0.9 })).toMatchObject({ messagesBefore: 7, messagesAfter: 6 });
    expect(await ours.messages()).toEqual(tens(7, 12));
  });

  test("nothing can leave, also as the memory is now, whatever another has added: false", async () => {
    const store = inMemoryStore();
    const ours = remembering({ id: "m", store } as Options);
    await ours.add(...tens(1, 1));
    await remembering({ id: "m", store } as Options).add(system("s"));
    expect(await ours.shrink()).toBe(false);
  });

  test("an acknowledgement that was lost is not another step", async () => {
    const raw = inMemoryStore();
    let lost = false;
    const store: ChatMemoryStore = {
      ...raw,
      updateMessages: async (id, update, options) => {
        await raw.updateMessages(id, update, options);
        if (!lost) return;
        lost = false;
        throw new Error("the answer was lost");
      },
    };
    const memory = remembering({ id: "m", store } as Options);
    await memory.add(...tens(1, 10));
    lost = true;
    expect(await memory.shrink()).toMatchObject({ messagesBefore: 10, messagesAfter: 7 });
    expect(await memory.messages()).toEqual(tens(4, 10));
  });

  test("each step makes any view smaller, keeps what must stay, loses nothing, and is the same each time", async () => {
    const said = fc.record({
      kind: fc.constantFrom("user" as const, "assistant" as const, "call" as const, "pinned" as const),
      length: fc.nat(60),
    });
    const window = fc.option(
      fc.record({
        maxMessages: fc.integer({ min: 3, max: 30 }),
        unit: fc.constantFrom("step" as const, "turn" as const, "message" as const),
        counter: fc.option(fc.constant(characterCounter), { nil: undefined }),
      }),
      { nil: undefined },
    );
    const target = fc.double({ min: 0.05, max: 0.95, noNaN: true });
    await fc.assert(
      fc.asyncProperty(
        fc.array(said, { minLength: 1, maxLength: 30 }),
        window,
        target,
        async (all, given, part) => {
          const pinned = (message: ModelMessageLike): boolean => textOf(message).startsWith("PIN");
          const options = { window: given && { ...given, pinned, overflow: "keep" as const } };
          const [memory, twin] = [remembering(options), remembering(options)];
          const messages = all.map(({ kind, length }, index): ModelMessageLike => {
            const text = `${index}${"x".repeat(length)}`;
            if (kind === "call") return toolCall(`${index}`, "t", text);
            return kind === "assistant" ? assistant(text) : user(kind === "pinned" ? `PIN${text}` : text);
          });
          for (const message of [system("system"), ...messages]) {
            await memory.add(message);
            await twin.add(message);
          }
          const whole = await states(memory);
          for (let view = await memory.messages(); ; ) {
            const step = await memory.shrink({ target: part });
            const again = await twin.shrink({ target: part });
            const next = await memory.messages();
            expect(await twin.messages()).toEqual(next);
            if (step === false) {
              expect(again).toBe(false);
              expect(next).toEqual(view);
              break;
            }
            expect(next.length).toBeLessThan(view.length);
            expect(view).toEqual(expect.arrayContaining(next));
            expect(next.at(-1)).toEqual(view.at(-1));
            const stays = (message: ModelMessageLike): boolean =>
              message.role === "system" || pinned(message);
            if (options.window !== undefined) expect(next.filter(stays)).toEqual(view.filter(stays));
            view = next;
          }
          expect((await states(memory)).map((state) => state.split(" ")[0])).toEqual(
            whole.map((state) => state.split(" ")[0]),
          );
        },
      ),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 80) },
    );
  });
});
