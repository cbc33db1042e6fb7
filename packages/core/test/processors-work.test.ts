import { describe, expect, test } from "vitest";
import {
  assistant,
  createChatMemory,
  modelMessageFormat as format,
  type MessageFormat,
  type ModelMessageLike,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { listOf } from "../src/processors/message-list.ts";
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
import { deepFreeze } from "../src/steps/deep-freeze.ts";
import { functionCalls } from "./function-calls.ts";
import { characterCounter as counter } from "./window-reference.ts";

/** What is asked for each added message, counted: times would depend on the machine. */

const limiter = () => tokenLimiter({ limit: 400, counter });
const chains: Readonly<Record<string, () => Processor<ModelMessageLike>[]>> = {
  tokenLimiter: () => [limiter()],
  "tokenLimiter, of turns": () => [tokenLimiter({ limit: 400, counter, unit: "turn" })],
  toolCallFilter: () => [toolCallFilter()],
  "toolCallFilter, keepLastSteps": () => [toolCallFilter({ keepLastSteps: 4 })],
  "toolCallFilter, then tokenLimiter": () => [toolCallFilter(), limiter()],
  "toolCallFilter, keepLastSteps, then tokenLimiter": () => [toolCallFilter({ keepLastSteps: 4 }), limiter()],
  "tokenLimiter, then toolCallFilter": () => [limiter(), toolCallFilter()],
  "all of them": () => [
    redact({ patterns: [/sk-\d+/] }),
    ...[stripMedia({ keepLastSteps: 2 }), stripReasoning({ keepLastSteps: 2 })],
    truncateToolResults({ maxTokens: 60, counter }),
    ...[toolCallFilter({ keepLastSteps: 2 }), limiter()],
  ],
};

/** A turn of ten messages, with calls one after another and two calls of one answer. */
function turn(at: number): ModelMessageLike[] {
  const id = (call: string): string => `${call}-${at}`;
  return [
    user(`question ${at}`),
    ...[toolCall(id("a"), "read", {}), toolResult(id("a"), "read", "ok"), assistant("More.")],
    ...[toolCall(id("b"), "search", {}), toolCall(id("c"), "read", {})],
    ...[toolResult(id("c"), "read", "ok"), toolResult(id("b"), "search", "found"), assistant("Here.")],
    user("Thanks."),
  ].map((message) => deepFreeze(message));
}

/** The format, which counts how often one of its functions is called. */
function counting(): { readonly asking: MessageFormat<ModelMessageLike>; readonly count: () => number } {
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
  return { asking, count: () => asked };
}

type Grow = (
  processors: readonly Processor<ModelMessageLike>[],
  asking: MessageFormat<ModelMessageLike>,
) => (message: ModelMessageLike) => Promise<readonly ModelMessageLike[]>;

const growList: Grow = (processors, asking) => {
  const list: ModelMessageLike[] = [];
  return (message) => {
    list.push(message);
    return applyProcessors(list, processors, { format: asking });
  };
};
const growMemory: Grow = (processors, asking) => {
  const memory = createChatMemory<ModelMessageLike>({ format: asking, processors });
  return async (message) => {
    await memory.add(message);
    return memory.messages();
  };
};

const turns = 4;

describe.each([
  ["a list", growList],
  ["a memory", growMemory],
] as const)("for one more message of %s", (_, grow) => {
  test.each(Object.entries(chains))(
    "%s asks as much when there are many as when there are few",
    async (_, make) => {
      const { asking, count } = counting();
      const add = grow(make(), asking);
      /** What was asked in each fifth of the conversation, and the most for one message. */
      const fifths: number[] = [];
      let most = 0;
      for (let fifth = 0; fifth < 5; fifth++) {
        const before = count();
        for (let at = 0; at < turns; at++) {
          for (const message of turn(fifth * turns + at)) {
            const asked = count();
            await add(message);
            most = Math.max(most, count() - asked);
          }
        }
        fifths.push(count() - before);
      }
      const [, second, , , last] = fifths as [number, number, number, number, number];
      expect(second).toBeGreaterThan(0);
      expect(last).toBeLessThan(1.1 * second);
      expect(most).toBeLessThan(100);
    },
  );
});

/** A turn that holds something for every processor. */
function richTurn(at: number): ModelMessageLike[] {
  const [question, call, result, ...rest] = turn(at) as [
    ModelMessageLike,
    ModelMessageLike,
    ModelMessageLike,
  ];
  const image = { type: "image", image: "AAAA" } as const;
  const thought = [
    { type: "reasoning", text: "Hm." },
    { type: "text", text: "I know the key sk-1." },
  ] as const;
  return [
    ...[question, user([{ type: "text", text: "And this?" }, image]), call, result, assistant([...thought])],
    ...[toolCall(`d-${at}`, "read", {}), toolResult(`d-${at}`, "read", "long ".repeat(50))],
    ...rest,
  ].map((message) => deepFreeze(message));
}

const inParts: MessageFormat<ModelMessageLike> = { ...format, answersInParts: true };

/** What processors do about messages that they have asked about is in their calls of functions alone. */
const whole: Readonly<Record<string, () => Processor<ModelMessageLike>[]>> = {
  tokenLimiter: () => [limiter()],
  "tokenLimiter, of turns": () => [tokenLimiter({ limit: 400, counter, unit: "turn" })],
  "tokenLimiter, which keeps as much as fits": () => [tokenLimiter({ limit: 400, counter, target: 1 })],
  "tokenLimiter, which keeps all": () => [tokenLimiter({ limit: 1_000_000, counter })],
  toolCallFilter: () => [toolCallFilter()],
  "toolCallFilter, exclude": () => [toolCallFilter({ exclude: ["search"] })],
  "toolCallFilter, keepLastSteps": () => [toolCallFilter({ keepLastSteps: 4 })],
  stripMedia: () => [stripMedia()],
  "stripMedia, keepLastSteps": () => [stripMedia({ keepLastSteps: 2 })],
  stripReasoning: () => [stripReasoning()],
  "stripReasoning, keepLastSteps": () => [stripReasoning({ keepLastSteps: 2 })],
  redact: () => [redact({ patterns: [/sk-\d+/] })],
  truncateToolResults: () => [truncateToolResults({ maxTokens: 60, counter })],
  "toolCallFilter, keepLastSteps, then tokenLimiter": () => [
    toolCallFilter({ keepLastSteps: 4 }),
    tokenLimiter({ limit: 1_000_000, counter }),
  ],
  "all of them": () => [
    stripMedia({ keepLastSteps: 2 }),
    stripReasoning({ keepLastSteps: 3 }),
    toolCallFilter({ keepLastSteps: 4 }),
    redact({ patterns: [/sk-\d+/] }),
    truncateToolResults({ maxTokens: 60, counter }),
    tokenLimiter({ limit: 1_000_000, counter }),
  ],
};

describe.each([
  ["whole", format],
  ["in parts", inParts],
])("for one more message of a list, with answers %s", (_, format) => {
  test.each(Object.entries(whole))("%s does as much behind many as behind few", async (_, make) => {
    const processors = make();
    const list: ModelMessageLike[] = [];
    let turns = 0;
    const grow = async (messages: readonly ModelMessageLike[]): Promise<void> => {
      list.push(...messages);
      let shown: readonly ModelMessageLike[] = list;
      // A memory too runs them one by one.
      for (const processor of processors) shown = await applyProcessors(shown, [processor], { format });
    };
    const growTo = async (count: number): Promise<void> => {
      for (; turns < count; turns++) for (const message of richTurn(turns)) await grow([message]);
    };
    await growTo(8);
    const few = await functionCalls(() => growTo(14));
    // What is not counted need not come message by message.
    for (; turns < 34; turns++) await grow(richTurn(turns));
    const many = await functionCalls(() => growTo(40));
    expect(list.length).toBeGreaterThan(500);
    expect(few).toBeGreaterThan(list.length / 10);
    expect(many).toBeLessThan(1.1 * few);
  });
});

test("what each of several processors is given of a growing list is one list", async () => {
  const lists: Set<unknown>[] = [];
  const watching = (place: number): Processor<ModelMessageLike> => ({
    name: `watching ${place}`,
    process: (messages) => {
      lists[place] = (lists[place] ?? new Set()).add(listOf(messages, format));
      return messages;
    },
  });
  const processors = (whole["all of them"] ?? (() => []))().flatMap((one, place) => [watching(place), one]);
  const list: ModelMessageLike[] = [];
  for (let at = 0; at < 20; at++) {
    for (const message of richTurn(at)) {
      list.push(message);
      await applyProcessors(list, processors);
    }
  }
  expect(lists.map(({ size }) => size)).toEqual([1, 1, 1, 1, 1, 1]);
});
