import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistant,
  modelMessageFormat as format,
  type MessageFormat,
  type ModelMessageLike,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import {
  applyProcessors,
  type Processor,
  redact,
  stripMedia,
  stripReasoning,
  tokenLimiter,
  toolCallFilter,
  truncateToolResults,
} from "../src/processors.ts";
import { conversation, crossed } from "./processors-support.ts";
import { characterCounter as counter } from "./window-reference.ts";

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}

/** Messages of a conversation in which some are missing and some come later than they should. */
const disordered: fc.Arbitrary<ModelMessageLike[]> = fc
  .tuple(
    conversation,
    fc.array(fc.tuple(fc.nat(), fc.option(fc.nat(), { nil: undefined })), { maxLength: 4 }),
  )
  .map(([messages, changes]) => {
    const list = [...messages];
    for (const [from, to] of changes) {
      if (list.length === 0) break;
      const taken = list.splice(from % list.length, 1);
      if (to !== undefined) list.splice(to % (list.length + 1), 0, ...taken);
    }
    return frozen(list);
  });

const id = fc.constantFrom("1", "2");
const tool = fc.constantFrom("search", "read");

/** Calls and results of the same few ids in any order, some under another tool's name, with few messages between them. */
const jumbled: fc.Arbitrary<ModelMessageLike[]> = fc
  .array(
    fc.oneof(
      fc.tuple(id, tool).map(([call, name]) => toolCall(call, name, {})),
      fc.tuple(id, tool).map(([call, name]) => toolResult(call, name, "ok")),
      fc.constantFrom<ModelMessageLike>(user("go on"), assistant("done")),
    ),
    { maxLength: 9 },
  )
  .map((messages) => messages.map((message, mark) => frozen({ ...message, mark })));

/** Answers are items, and those that go without their reasoning show it. */
const inParts: MessageFormat<ModelMessageLike> = {
  ...format,
  answersInParts: true,
  without: (message, content) => {
    const left = format.without(message, content);
    const isUnbound = content.reasoning === true && left?.role === "assistant";
    return isUnbound ? { ...left, unbound: true } : left;
  },
};

const keepLastSteps = fc.option(fc.nat(4), { nil: undefined });

/** Every processor that looks at more than one message, with any options, as a function that makes it. */
const anyProcessor: fc.Arbitrary<() => Processor<ModelMessageLike>> = fc.oneof(
  fc
    .record({
      limit: fc.integer({ min: 60, max: 900 }),
      unit: fc.constantFrom("step" as const, "turn" as const),
      target: fc.constantFrom(0.3, 0.7, 1),
    })
    .map((options) => () => tokenLimiter({ ...options, counter, overflow: "keep" })),
  fc
    .record({ exclude: fc.option(fc.subarray(["search", "read"]), { nil: undefined }), keepLastSteps })
    .map((options) => () => toolCallFilter(options)),
  fc.record({ keepLastSteps }).map((options) => () => stripMedia(options)),
  fc.record({ keepLastSteps }).map((options) => () => stripReasoning(options)),
  fc.constant(() => redact({ patterns: [/sk-\d+/, "thought 3"] })),
);

describe("processors over a list that grows", () => {
  test("answer as those that never saw it before", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(disordered, jumbled, crossed.map(frozen)),
        fc.array(anyProcessor, { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(fc.nat(6), fc.nat(20)), { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        fc.constantFrom(format, inParts),
        async (messages, makes, cuts, isFrozen, format) => {
          const make = () => makes.map((one) => one());
          const processors = make();
          const given = isFrozen ? messages : structuredClone(messages);
          // Message by message, then longer or shorter than before, and often without one of the first.
          const lists = [
            ...given.map((_, at) => given.slice(0, at + 1)),
            ...cuts.map(([missing, length]) => given.slice(0, length).filter((_, at) => at !== missing)),
          ];
          for (const list of lists) {
            const again = await applyProcessors(list, processors, { format });
            expect(again).toEqual(await applyProcessors(structuredClone(list), make(), { format }));
          }
        },
      ),
    );
  });

  test("answer as those that never saw it before, wherever it was cut and grew again", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(disordered, jumbled, crossed.map(frozen)),
        fc.array(anyProcessor, { minLength: 1, maxLength: 2 }),
        fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { minLength: 3, maxLength: 12 }),
        fc.constantFrom(format, inParts),
        async (messages, makes, cuts, format) => {
          const make = () => makes.map((one) => one());
          let list: readonly ModelMessageLike[] = [];
          const root: ModelMessageLike[] = [frozen(user("go on"))];
          // What a processor answers is one list to the next, whatever it holds.
          const processors = [{ name: "any", process: () => list }, ...make()];
          for (const [missing, length] of cuts) {
            list = messages.slice(0, length).filter((_, at) => at !== missing);
            const again = await applyProcessors(root, processors, { format });
            expect(again).toEqual(await applyProcessors(structuredClone(list), make(), { format }));
          }
        },
      ),
    );
  });

  test("toolCallFilter looks again at reasoning whose answer ends otherwise", async () => {
    const compaction = {
      type: "custom",
      kind: "openai.compaction",
      providerOptions: { openai: { itemId: "cmp_1" } },
    };
    const [question, reasoning, call, compacted, thanks] = [
      user("go on"),
      assistant([{ type: "reasoning", text: "Hm." }]),
      toolCall("1", "read", {}),
      { role: "assistant", content: [compaction] } as unknown as ModelMessageLike,
      user("Thanks."),
    ].map(frozen) as [ModelMessageLike, ...ModelMessageLike[]];
    let list = [question, reasoning, call, compacted, thanks] as ModelMessageLike[];
    const processors = [{ name: "any", process: () => list }, toolCallFilter({ keepLastSteps: 0 })];
    const root = [question];
    const shown = await applyProcessors(root, processors, { format: inParts });
    expect(shown).toEqual([question, reasoning, compacted, thanks]);
    list = [question, reasoning, call, thanks] as ModelMessageLike[];
    expect(await applyProcessors(root, processors, { format: inParts })).toEqual([question, thanks]);
  });

  test("tokenLimiter keeps calls together that follow one another once what stood between them has gone", async () => {
    const [first, between, ...rest] = [
      ...[toolCall("1", "read", {}), user("go on"), toolCall("2", "read", {})],
      ...[toolResult("1", "read", "ok"), toolResult("2", "read", "ok")],
    ].map(frozen) as [ModelMessageLike, ModelMessageLike, ...ModelMessageLike[]];
    const ten = { name: "ten", count: () => 10 };
    let list = [first, between];
    const limiter = tokenLimiter({ limit: 25, counter: ten, overflow: "evict" });
    const processors = [{ name: "any", process: () => list }, limiter];
    expect(await applyProcessors([between], processors)).toEqual(list);
    list = [first, ...rest];
    expect(await applyProcessors([between], processors)).toEqual([]);
  });

  test.each([{ exclude: ["read"] }, { exclude: ["read"], keepLastSteps: 1 }])(
    "toolCallFilter answers anew of a result whose call comes behind it (%o)",
    async (options) => {
      const [early, earlier] = [toolResult("b", "other", "ok"), toolResult("a", "other", "ok")];
      const messages: ModelMessageLike[] = [
        ...[user("1"), earlier, assistant("2"), early, user("3"), assistant("4")],
        ...[toolCall("b", "read", {}), user("5"), toolCall("a", "read", {}), user("6"), assistant("7")],
      ];
      const processor = toolCallFilter(options);
      for (const [index] of messages.entries()) {
        const list = frozen(messages.slice(0, index + 1));
        const anew = await applyProcessors(list, [toolCallFilter(options)]);
        expect(await applyProcessors(list, [processor])).toEqual(anew);
      }
    },
  );

  test("toolCallFilter shows a result that its own name left out once its call says otherwise", async () => {
    const processor = toolCallFilter({ exclude: ["read"], keepLastSteps: 0 });
    const result = frozen(toolResult("1", "read", "ok"));
    const [question, call] = [frozen(user("go on")), frozen(toolCall("1", "search", {}))];
    expect(await applyProcessors([result, question], [processor])).toEqual([question]);
    expect(await applyProcessors([result, question, call], [processor])).toEqual([result, question, call]);
  });

  test("see what was changed in messages that are not frozen", async () => {
    await fc.assert(
      fc.asyncProperty(
        conversation,
        anyProcessor,
        fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
        async (given, make, places) => {
          fc.pre(given.length > 0);
          const messages = structuredClone(given);
          const processor = make();
          await applyProcessors(messages, [processor]);
          for (const place of places) {
            const parts = messages[place % messages.length]?.content;
            const part = { type: "text", text: "long ".repeat(20) };
            if (Array.isArray(parts)) (parts as unknown[]).push(part);
            else Object.assign(messages[place % messages.length] as object, { content: part.text });
            const shown = await applyProcessors(messages, [processor]);
            expect(shown).toEqual(await applyProcessors(structuredClone(messages), [make()]));
          }
        },
      ),
    );
  });

  const changes: [string, unknown, (holder: { value: unknown }) => void][] = [
    ["a text", "a", (holder) => Object.assign(holder, { value: "b" })],
    ["a value that was nothing", null, (holder) => Object.assign(holder, { value: {} })],
    ["an object that is a list now", {}, (holder) => Object.assign(holder, { value: [] })],
    ["a list that is an object now", [], (holder) => Object.assign(holder, { value: {} })],
    [
      "a list with a place more that is empty",
      [1],
      ({ value }) => Object.assign(value as number[], { length: 2 }),
    ],
    [
      "an object that has a member less",
      { a: 1, b: 2 },
      ({ value }) => Reflect.deleteProperty(value as object, "b"),
    ],
    [
      "an object in another order",
      { a: 1, b: 2 },
      (holder) => Object.assign(holder, { value: { b: 2, a: 1 } }),
    ],
    ["a list that is longer", [1], ({ value }) => (value as number[]).push(2)],
    ["a list that is shorter", [1, 2], ({ value }) => (value as number[]).pop()],
    [
      "a list that has another item",
      [1, { a: 1 }],
      ({ value }) => Object.assign((value as [1, object])[1], { a: 2 }),
    ],
    ["an object that has a member more", { a: 1 }, ({ value }) => Object.assign(value as object, { b: 1 })],
    [
      "an object whose member has another name",
      { a: 1, b: 2 },
      (holder) => Object.assign(holder, { value: { a: 1, c: 2 } }),
    ],
    [
      "an object without a prototype",
      Object.assign(Object.create(null), { a: 1 }),
      ({ value }) => Object.assign(value as object, { a: 2 }),
    ],
    ["a date", new Date(0), ({ value }) => (value as Date).setTime(1)],
    [
      "an address",
      new URL("https://a.example/"),
      ({ value }) => Object.assign(value as URL, { pathname: "/b" }),
    ],
    ["bytes", new Uint8Array([1]), ({ value }) => (value as Uint8Array).fill(2)],
  ];
  test.each(changes)(
    "are given %s as it is by now, and once where it is as it was",
    async (_, value, change) => {
      const given: (readonly ModelMessageLike[])[] = [];
      const watching: Processor<ModelMessageLike> = {
        name: "watching",
        process: (messages) => {
          given.push(messages);
          return messages;
        },
      };
      const holder = { value };
      const messages = [{ ...user("a"), providerOptions: { own: holder } }] as unknown as ModelMessageLike[];
      const texts: string[] = [];
      const look = async (): Promise<void> => {
        await applyProcessors(messages, [watching]);
        texts.push(JSON.stringify(given.at(-1)));
      };
      await look();
      await look();
      if (!(value instanceof Uint8Array)) expect(given[1]?.[0]).toBe(given[0]?.[0]);
      change(holder);
      await look();
      expect(texts[2]).toBe(JSON.stringify(messages));
      expect(texts[2]).not.toBe(texts[0]);
    },
  );

  test.each<[string, (asked: () => void) => Processor<ModelMessageLike>]>([
    [
      "tokenLimiter",
      (asked) => tokenLimiter({ limit: 100, counter: { name: "asked", count: () => asked() ?? 1 } }),
    ],
    ["redact", (asked) => redact({ change: (text) => asked() ?? text })],
  ])("%s asks once about a message that is not frozen, and again when it was changed", async (_, make) => {
    let asked = 0;
    const processor = make(() => {
      asked++;
    });
    const list: ModelMessageLike[] = Array.from({ length: 20 }, (_, at) => user(`message ${at}`));
    await applyProcessors(list, [processor]);
    expect(asked).toBe(20);
    list.push(user("new"));
    await applyProcessors(list, [processor]);
    expect(asked).toBe(21);
    Object.assign(list[3] as object, { content: "changed" });
    await applyProcessors(list, [processor]);
    expect(asked).toBe(22);
  });

  test.each<[string, Processor<ModelMessageLike>]>([
    ["tokenLimiter", tokenLimiter({ limit: 200, counter })],
    ["toolCallFilter", toolCallFilter()],
    ["toolCallFilter, keepLastSteps", toolCallFilter({ keepLastSteps: 2 })],
    ["stripMedia, keepLastSteps", stripMedia({ keepLastSteps: 2 })],
    ["stripReasoning", stripReasoning()],
    ["truncateToolResults", truncateToolResults({ maxTokens: 100, counter })],
  ])("%s asks the format as often for one more message, however many there are", async (_, processor) => {
    const turn = (at: number): ModelMessageLike[] =>
      frozen([
        user([
          { type: "text", text: `question ${at}` },
          { type: "image", image: "AAAA" },
        ]),
        toolCall(`call-${at}`, "read", {}),
        toolResult(`call-${at}`, "read", "ok"),
        assistant("answer"),
      ]);
    const askedBehind = async (turns: number): Promise<number> => {
      let asked = 0;
      const asking = new Proxy(format, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== "function") return member;
          return (...args: unknown[]) => {
            asked++;
            return member(...args);
          };
        },
      });
      const list = Array.from({ length: turns }, (_, at) => turn(at)).flat();
      await applyProcessors(list, [processor], { format: asking });
      asked = 0;
      list.push(frozen(user("new")));
      await applyProcessors(list, [processor], { format: asking });
      return asked;
    };
    const few = await askedBehind(10);
    expect(few).toBeGreaterThan(0);
    expect(await askedBehind(200)).toBe(few);
  });

  test("is given the array of an earlier call again when the list has grown", async () => {
    const given: (readonly ModelMessageLike[])[] = [];
    const keeps: Processor<ModelMessageLike> = {
      name: "keeps",
      process: (messages) => {
        given.push(messages);
        return messages;
      },
    };
    const limiter = tokenLimiter({ limit: 60, counter, target: 1 });
    const list: ModelMessageLike[] = Array.from({ length: 6 }, (_, at) => frozen(user(`question ${at}`)));
    const before = await applyProcessors(list, [keeps, limiter], { format });
    list.push(frozen(user("a question that takes more room")));
    await applyProcessors(list, [keeps, limiter], { format });
    const context = { format, signal: new AbortController().signal };
    expect(limiter.process(given[0] ?? [], context)).toEqual(before);
  });

  test("sees what was changed in a message that it is given without applyProcessors", () => {
    const limiter = tokenLimiter({ limit: 40, counter });
    const context = { format, signal: new AbortController().signal };
    const list = [user("one"), user("two")];
    expect(limiter.process(list, context)).toHaveLength(2);
    Object.assign(list[0] as object, { content: "long ".repeat(20) });
    expect(limiter.process(list, context)).toEqual([list[1]]);
  });
});
