import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelMessageFormat as format, type ModelMessageLike } from "../src/index.ts";
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
import { anyMessage, copied, described } from "./format-support.ts";
import { brokenPairs, conversation, crossed, markOf } from "./processors-support.ts";
import { characterCounter as counter } from "./window-reference.ts";

type Make = () => Processor<ModelMessageLike>;

const few = fc.option(fc.nat(6), { nil: undefined });

const limits = fc.record({
  counter: fc.constant(counter),
  limit: fc.integer({ min: 60, max: 900 }),
  reserve: fc.nat(20),
  unit: fc.constantFrom("step" as const, "turn" as const),
  target: fc.constantFrom(0.3, 0.7, 1),
});

/** Every processor with any options, as a function that makes it: two made alike must do alike. */
const anyProcessor: fc.Arbitrary<Make> = fc.oneof(
  limits.map((options) => () => tokenLimiter({ ...options, overflow: "keep" })),
  fc
    .record({
      exclude: fc.option(fc.subarray(["search", "read"]), { nil: undefined }),
      keepLastSteps: few,
    })
    .map((options) => () => toolCallFilter(options)),
  fc.record({ keepLastSteps: few }).map((options) => () => stripMedia(options)),
  fc.record({ keepLastSteps: few }).map((options) => () => stripReasoning(options)),
  fc.integer({ min: 60, max: 120 }).map((maxTokens) => () => truncateToolResults({ maxTokens, counter })),
  fc.constant(() => redact({ patterns: [/sk-\d+/, "thought 3"] })),
);

const chain = fc.array(anyProcessor, { minLength: 1, maxLength: 4 });

describe("tokenLimiter", () => {
  test("shows a call and its result, or neither, in whatever order they came and however they cross", async () => {
    await fc.assert(
      fc.asyncProperty(crossed, limits, async (messages, options) => {
        const limiter = tokenLimiter({ ...options, limit: 21 + (options.limit % 200), overflow: "keep" });
        for (let length = 1; length <= messages.length; length++) {
          const list = messages.slice(0, length);
          const shown = await applyProcessors(list, [limiter]);
          const ids = (of: readonly ModelMessageLike[], kind: "toolCalls" | "toolResults"): string[] =>
            of.flatMap((message) => format[kind](message).map(({ id }) => id));
          const pairs = ids(list, "toolCalls").filter((id) => ids(list, "toolResults").includes(id));
          const isShown = (id: string): boolean[] => [
            ids(shown, "toolCalls").includes(id),
            ids(shown, "toolResults").includes(id),
          ];
          for (const id of pairs) expect(new Set(isShown(id)).size).toBe(1);
          expect(shown.map(markOf)).toEqual(shown.map(markOf).sort((a, b) => a - b));
        }
      }),
    );
  });

  test("shows no more than its limit, or says that the newest step cannot be shown within it", async () => {
    await fc.assert(
      fc.asyncProperty(conversation, limits, async (messages, options) => {
        const processor = tokenLimiter(options);
        const shown = await applyProcessors(messages, [processor]).catch((error: unknown) => error);
        if (!Array.isArray(shown)) {
          expect(shown).toMatchObject({ code: "WINDOW_OVERFLOW" });
          return;
        }
        const tokens = shown.map((message: ModelMessageLike) => counter.count(message, format));
        const all = tokens.reduce((sum, count) => sum + count, (counter.base ?? 0) + options.reserve);
        expect(all).toBeLessThanOrEqual(options.limit);
      }),
    );
  });
});

describe("any chain of processors", () => {
  test("keeps order, pairs, the system message and boundaries, and changes nothing that it was given", async () => {
    await fc.assert(
      fc.asyncProperty(conversation, chain, async (messages, makes) => {
        const before = structuredClone(messages);
        const processors = makes.map((make) => make());
        const shown = await applyProcessors(messages, processors);
        expect(messages).toStrictEqual(before);
        expect(messages.every((message) => !Object.isFrozen(message))).toBe(true);

        const marks = shown.map(markOf).filter((mark) => mark !== undefined);
        expect(marks).toEqual([...new Set(marks)].sort((a, b) => a - b));
        expect(shown.filter(({ role }) => role === "system")).toEqual(
          messages.filter(({ role }) => role === "system"),
        );
        const newest = messages.findLast(format.isBoundary);
        if (newest !== undefined) expect(marks).toContain(markOf(newest));
        const { orphans, open } = brokenPairs(shown);
        expect(orphans).toEqual([]);
        expect(brokenPairs(messages).open).toEqual(expect.arrayContaining([...open]));
        for (const message of shown) format.decode(format.encode(message));
      }),
    );
  });

  test("answers the same again, from the same processors and from others made alike", async () => {
    await fc.assert(
      fc.asyncProperty(conversation, chain, async (messages, makes) => {
        const processors = makes.map((make) => make());
        const shown = await applyProcessors(messages, processors);
        expect(await applyProcessors(messages, processors)).toEqual(shown);
        expect(
          await applyProcessors(
            structuredClone(messages),
            makes.map((make) => make()),
          ),
        ).toEqual(shown);
      }),
    );
  });

  test("leaves something to send where there was something", async () => {
    const isSaid = ({ role }: ModelMessageLike): boolean => role !== "system";
    // Reasoning alone says nothing without the answer that it led to.
    const thoughtOnly = (message: ModelMessageLike): boolean =>
      !isSaid(message) || format.without(message, { reasoning: true }) === undefined;
    await fc.assert(
      fc.asyncProperty(conversation, chain, async (messages, makes) => {
        fc.pre(!messages.every(thoughtOnly));
        const shown = await applyProcessors(
          messages,
          makes.map((make) => make()),
        );
        expect(shown.some(isSaid)).toBe(true);
      }),
    );
  });

  test("works on any list of messages, whatever is in them and whatever is missing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { maxLength: 12 }), chain, async (messages, makes) => {
        const before = described(messages.map(copied));
        const processors = makes.map((make) => make());
        const shown = await applyProcessors(messages, processors);
        expect(described(messages)).toEqual(before);
        expect(shown.filter(({ role }) => role === "system")).toHaveLength(
          messages.filter(({ role }) => role === "system").length,
        );
        for (const message of shown) format.decode(format.encode(message));
      }),
    );
  });

  test("that look at each message alone do to a list what they do to its messages", async () => {
    await fc.assert(
      fc.asyncProperty(conversation, anyProcessor, async (messages, make) => {
        const processor = make();
        if (processor.eachAlone !== true) return;
        const shown = await applyProcessors(messages, [processor]);
        const alone = await Promise.all(messages.map((message) => applyProcessors([message], [make()])));
        expect(shown).toEqual(alone.flat());
      }),
    );
  });
});
