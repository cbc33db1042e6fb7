import {
  type ChatMemory,
  createChatMemory,
  entry,
  type MessageFormat,
  type ModelMessageLike,
  modelMessageFormat,
} from "@turnkeep/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { uiMessageFormat } from "../src/ai-sdk.ts";
import { anthropicFormat } from "../src/anthropic.ts";
import { bedrockFormat } from "../src/bedrock.ts";
import { geminiFormat } from "../src/gemini.ts";
import { langchain4jFormat } from "../src/langchain4j.ts";
import { ollamaFormat } from "../src/ollama.ts";
import { openaiFormat } from "../src/openai.ts";
import { openaiResponsesFormat } from "../src/openai-responses.ts";
import { type ProfileRules, validate } from "../src/profiles.ts";
import { allProfiles } from "./all-profiles.ts";

/** What a harness stores that keeps each call of an answer by itself: calls and words in any order, then the results. */
interface Answer {
  /** By call its id, or what is said between two calls. */
  readonly said: readonly { readonly id?: string; readonly text?: string }[];
  /** The order in which the results come, by the calls' places. */
  readonly order: readonly number[];
  /** Whether all results are in one message, where the format has such. */
  readonly together: boolean;
  /** Whether the user speaks before the next answer. */
  readonly question: boolean;
}

const calls = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "toolu_1", "call 2"), {
  minLength: 1,
  maxLength: 4,
});
const answer: fc.Arbitrary<Answer> = calls.chain((ids) =>
  fc.record({
    said: fc
      .array(fc.boolean(), { minLength: ids.length, maxLength: ids.length })
      .map((texts) =>
        ids.flatMap((id, at) => [...(texts[at] && at > 0 ? [{ text: `words ${id}` }] : []), { id }]),
      ),
    order: fc.shuffledSubarray([...ids.keys()], { minLength: ids.length }),
    together: fc.boolean(),
    question: fc.boolean(),
  }),
);

/** How one format writes them. Results are the texts `result N`. */
interface Writing {
  readonly format: MessageFormat<never>;
  readonly user: () => unknown;
  readonly says: (text: string) => unknown;
  readonly call: (id: string, key: string) => unknown;
  /** Several messages, or one if the format can put them together. */
  readonly results: (results: readonly Result[], together: boolean) => readonly unknown[];
  /** Where a result is put into the message of its call. */
  readonly answered?: (id: string, key: string, text: string) => unknown;
}

interface Result {
  readonly id: string;
  readonly text: string;
}

const each =
  <T>(make: (results: readonly Result[]) => T) =>
  (results: readonly Result[], together: boolean): T[] =>
    together ? [make(results)] : results.map((result) => make([result]));

const uiCall = (id: string, key: string, rest: object): unknown => ({
  id: key,
  role: "assistant",
  parts: [{ type: "tool-t", toolCallId: id, input: {}, ...rest }],
});

const writings: Readonly<Record<string, Writing>> = {
  "the default format": {
    format: modelMessageFormat as MessageFormat<never>,
    user: () => ({ role: "user", content: "Go on." }),
    says: (text) => ({ role: "assistant", content: text }),
    call: (toolCallId) => ({
      role: "assistant",
      content: [{ type: "tool-call", toolCallId, toolName: "t", input: {} }],
    }),
    results: each((results) => ({
      role: "tool",
      content: results.map(({ id, text }) => ({
        type: "tool-result",
        toolCallId: id,
        toolName: "t",
        output: { type: "text", value: text },
      })),
    })),
  },
  "OpenAI's chat": {
    format: openaiFormat as MessageFormat<never>,
    user: () => ({ role: "user", content: "Go on." }),
    says: (text) => ({ role: "assistant", content: text }),
    call: (id) => ({
      role: "assistant",
      content: null,
      tool_calls: [{ type: "function", id, function: { name: "t", arguments: "{}" } }],
    }),
    results: (results) => results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text })),
  },
  "OpenAI's Responses": {
    format: openaiResponsesFormat as MessageFormat<never>,
    user: () => ({ role: "user", content: "Go on." }),
    says: (text) => ({ role: "assistant", content: text }),
    call: (id) => ({ type: "function_call", call_id: id, name: "t", arguments: "{}" }),
    results: (results) =>
      results.map(({ id, text }) => ({ type: "function_call_output", call_id: id, output: text })),
  },
  Anthropic: {
    format: anthropicFormat as MessageFormat<never>,
    user: () => ({ role: "user", content: "Go on." }),
    says: (text) => ({ role: "assistant", content: text }),
    call: (id) => ({ role: "assistant", content: [{ type: "tool_use", id, name: "t", input: {} }] }),
    results: each((results) => ({
      role: "user",
      content: results.map(({ id, text }) => ({ type: "tool_result", tool_use_id: id, content: text })),
    })),
  },
  Gemini: {
    format: geminiFormat as MessageFormat<never>,
    user: () => ({ role: "user", parts: [{ text: "Go on." }] }),
    says: (text) => ({ role: "model", parts: [{ text }] }),
    call: (id) => ({ role: "model", parts: [{ functionCall: { id, name: "t", args: {} } }] }),
    results: each((results) => ({
      role: "user",
      parts: results.map(({ id, text }) => ({
        functionResponse: { id, name: "t", response: { output: text } },
      })),
    })),
  },
  Bedrock: {
    format: bedrockFormat as MessageFormat<never>,
    user: () => ({ role: "user", content: [{ text: "Go on." }] }),
    says: (text) => ({ role: "assistant", content: [{ text }] }),
    call: (id) => ({ role: "assistant", content: [{ toolUse: { toolUseId: id, name: "t", input: {} } }] }),
    results: each((results) => ({
      role: "user",
      content: results.map(({ id, text }) => ({ toolResult: { toolUseId: id, content: [{ text }] } })),
    })),
  },
  Ollama: {
    format: ollamaFormat as MessageFormat<never>,
    user: () => ({ role: "user", content: "Go on." }),
    says: (text) => ({ role: "assistant", content: text }),
    call: (id) => ({
      role: "assistant",
      content: "",
      tool_calls: [{ id, function: { name: "t", arguments: {} } }],
    }),
    results: (results) =>
      results.map(({ id, text }) => ({ role: "tool", tool_name: "t", tool_call_id: id, content: text })),
  },
  "the AI SDK's UIMessage": {
    format: uiMessageFormat() as MessageFormat<never>,
    user: () => ({ id: "", role: "user", parts: [{ type: "text", text: "Go on." }] }),
    says: (text) => ({ id: "", role: "assistant", parts: [{ type: "text", text }] }),
    call: (id, key) => uiCall(id, key, { state: "input-available" }),
    results: () => [],
    answered: (id, key, text) => uiCall(id, key, { state: "output-available", output: text }),
  },
  LangChain4j: {
    format: langchain4jFormat as MessageFormat<never>,
    user: () => ({ type: "USER", contents: [{ type: "TEXT", text: "Go on." }] }),
    says: (text) => ({ type: "AI", text }),
    call: (id) => ({ type: "AI", toolExecutionRequests: [{ id, name: "t", arguments: "{}" }] }),
    results: (results) =>
      results.map(({ id, text }) => ({
        type: "TOOL_EXECUTION_RESULT",
        id,
        toolName: "t",
        contents: [{ type: "TEXT", text }],
      })),
  },
};

/** Stores an answer, message by message; returns the texts of its results. */
async function store(
  memory: ChatMemory<never>,
  answer: Answer,
  at: number,
  writing: Writing,
): Promise<string[]> {
  const keyOf = (place: number): string => `${at} ${place}`;
  if (at === 0 || answer.question) await memory.add(writing.user() as never);
  for (const [place, { id, text }] of answer.said.entries()) {
    const message = id === undefined ? writing.says(text as string) : writing.call(id, keyOf(place));
    await memory.add(entry(message as never, { id: keyOf(place) }));
  }
  const made = answer.said.flatMap(({ id }, place) => (id === undefined ? [] : [{ id, place }]));
  const results = answer.order.map((index) => {
    const { id, place } = made[index] as (typeof made)[number];
    return { id, place, text: `result ${at}.${place}` };
  });
  for (const message of writing.results(results, answer.together)) await memory.add(message as never);
  for (const { id, place, text } of writing.answered ? results : [])
    await memory.put(keyOf(place), writing.answered?.(id, keyOf(place), text) as never);
  return results.map(({ text }) => text);
}

function shownIn(view: readonly unknown[], texts: readonly string[]): string[] {
  const all = JSON.stringify(view);
  return texts.filter((text) => all.split(`"${text}"`).length === 2);
}

const views: readonly (ProfileRules | undefined)[] = [undefined, ...allProfiles];

describe.each(Object.entries(writings))("answers stored call by call, in %s", (_, writing) => {
  it.each(views.map((profile) => [profile?.name ?? "no provider", profile] as const))(
    "are shown to %s with every result",
    async (_, profile) => {
      const property = fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 4 }), async (answers) => {
        const memory = createChatMemory({ format: writing.format, profile });
        const texts: string[] = [];
        for (const [at, one] of answers.entries()) texts.push(...(await store(memory, one, at, writing)));
        const view = await memory.messages();
        expect(shownIn(view, texts)).toEqual(texts);
        expect(JSON.stringify(view)).not.toContain("no result was recorded");
        if (profile !== undefined) expect(validate(view, profile, { format: writing.format })).toEqual([]);
      });
      await fc.assert(property, { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 15) });
    },
  );

  // Where results are put into the messages of their calls, nothing is added that could make another leave.
  if (writing.answered !== undefined) return;
  it("leave a window as a whole", async () => {
    const withoutWords = answer.map((one) => ({
      ...one,
      said: one.said.filter(({ id }) => id !== undefined),
    }));
    const property = fc.asyncProperty(
      fc.array(withoutWords, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 8 }),
      async (answers, maxMessages) => {
        const window = { maxMessages, overflow: "keep" as const };
        const memory = createChatMemory({ format: writing.format, window });
        const stored: string[][] = [];
        for (const [at, one] of answers.entries()) stored.push(await store(memory, one, at, writing));
        const view = await memory.messages();
        expect(JSON.stringify(view)).not.toContain("no result was recorded");
        for (const texts of stored) expect([[], texts]).toContainEqual(shownIn(view, texts));
        expect(shownIn(view, stored.at(-1) ?? [])).toEqual(stored.at(-1));
      },
    );
    await fc.assert(property, { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 100) });
  });
});

it("are removed as a whole", async () => {
  const { format, ...writing } = writings["the default format"] as Writing;
  const memory = createChatMemory({ format: format as MessageFormat<ModelMessageLike> });
  const said = [writing.call("a", ""), writing.says("And b."), writing.call("b", "")];
  const [first] = await memory.add(...([writing.user(), ...said] as ModelMessageLike[]));
  const results = writing.results(
    [
      { id: "b", text: "B" },
      { id: "a", text: "A" },
    ],
    false,
  );
  const [result] = await memory.add(...(results as ModelMessageLike[]));
  expect(await memory.remove(result as string)).toHaveLength(5);
  expect((await memory.history()).messages.map(({ id }) => id)).toEqual([first]);
});
