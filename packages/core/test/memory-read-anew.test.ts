import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ChatMemory,
  createChatMemory,
  inMemoryStore,
  isTurnkeepError,
  type ModelMessage,
  system,
  type TokenCounter,
  user,
  type WindowOptions,
} from "../src/index.ts";
import { type Processor, tokenLimiter, toolCallFilter } from "../src/processors.ts";
import { formatWith, messages } from "./step-messages.ts";

const pinned = user("pinned");
const all = [...messages, pinned, system("one"), system("another")];

const counter: TokenCounter = {
  name: "letters",
  count: (message) => 1 + (JSON.stringify(message).length % 7),
};

const windows: readonly (WindowOptions<ModelMessage> | undefined)[] = [
  undefined,
  { maxMessages: 3 },
  { maxMessages: 4, target: 0.5 },
  { maxMessages: 5, unit: "turn" },
  { maxTokens: 30, counter, unit: "turn", target: 0.6 },
  { maxMessages: 4, unit: "message" },
  { maxTokens: 20, counter, unit: "message" },
  { maxMessages: 4, overflow: "keep", pinned: ({ content }) => content === pinned.content },
  { maxTokens: 15, counter, overflow: "evict" },
];

const processors: readonly (() => Processor<ModelMessage>[])[] = [
  () => [],
  () => [toolCallFilter({ keepLastSteps: 1 })],
  () => [toolCallFilter(), tokenLimiter({ limit: 15, counter })],
];

const message = fc.constantFrom(...all);
const few = fc.array(message, { minLength: 1, maxLength: 3 });
/** Of the ids that are known by then. */
const which = fc.nat(20);
const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("add" as const), added: few }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("add by another" as const), added: few }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("set" as const), added: few }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("put" as const), which, message }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rewind" as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("shrink" as const) }) },
);
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

/** Answers the ids that have come by it. */
async function perform(
  next: Act,
  ids: readonly string[],
  memory: ChatMemory<ModelMessage>,
  open: () => ChatMemory<ModelMessage>,
): Promise<string[]> {
  const id = "which" in next ? (ids[next.which % Math.max(1, ids.length)] ?? "nobody's") : "";
  switch (next.kind) {
    case "add":
      return memory.add(...next.added);
    case "add by another":
      return open().add(...next.added);
    case "set":
      return memory.set(next.added);
    case "compact":
      return [await memory.compact({ through: id, replacement: user("all of it") })];
    case "put":
      await memory.put(id, next.message);
      return [];
    case "remove":
      await memory.remove(id);
      return [];
    case "rewind":
      await memory.rewind(id);
      return [];
    case "shrink":
      await memory.shrink();
      return [];
  }
}

/** The answer of a call, or the code and the words of its refusal. */
function outcome<T>(call: Promise<T>): Promise<T | string> {
  return call.catch((error: unknown) => {
    if (isTurnkeepError(error)) return `${error.code}: ${error.message}`;
    throw error;
  });
}

test.each([
  ["whole answers", false],
  ["answers in parts", true],
])(
  "of %s: whatever was done, the memory that did it shows what one shows that reads anew",
  async (_, parts) => {
    const given = {
      acts: fc.array(act, { minLength: 1, maxLength: 14 }),
      window: fc.constantFrom(...windows),
      made: fc.constantFrom(...processors),
      history: fc.boolean(),
    };
    const property = fc.asyncProperty(fc.record(given), async ({ acts, window, made, history }) => {
      const store = inMemoryStore();
      const format = formatWith(parts);
      const open = (): ChatMemory<ModelMessage> =>
        createChatMemory({ id: "m", store, format, window, history, processors: made() });
      const memory = open();
      const ids: string[] = [];
      for (const next of acts) {
        const come = await outcome(perform(next, ids, memory, open));
        if (typeof come !== "string") ids.push(...come);
        expect(await outcome(memory.messages())).toEqual(await outcome(open().messages()));
      }
      const { messages: said } = await memory.history({ limit: 1000 });
      expect(new Set(said.map(({ id }) => id)).size).toBe(said.length);
    });
    await fc.assert(property, { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 150) });
  },
);
