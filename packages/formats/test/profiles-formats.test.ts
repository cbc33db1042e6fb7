import { type ChatMemory, createChatMemory, isTurnkeepError, type MessageFormat } from "@turnkeep/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type UIMessageLike, uiMessageFormat } from "../src/ai-sdk.ts";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { type BedrockMessage, bedrockFormat } from "../src/bedrock.ts";
import { type GeminiContent, geminiFormat } from "../src/gemini.ts";
import { type LangChain4jMessage, langchain4jFormat } from "../src/langchain4j.ts";
import { type OllamaMessage, ollamaFormat } from "../src/ollama.ts";
import { type ChatMessage, openaiFormat } from "../src/openai.ts";
import { openaiResponsesFormat, type ResponsesItem } from "../src/openai-responses.ts";
import {
  anthropic,
  bedrock,
  gemini,
  mistral,
  openai,
  openaiResponses,
  type ProfileRules,
  strict,
  validate,
} from "../src/profiles.ts";
import { callIds, characters, throwUnless, toolNames } from "./profiles-conversations.ts";

/** What may stand next in a conversation, in no format yet. */
type Said =
  | { readonly kind: "user" | "assistant" | "system"; readonly text: string; readonly thought: boolean }
  | {
      readonly kind: "calls";
      readonly ids: readonly string[];
      readonly name: string;
      readonly thought: boolean;
    }
  | {
      readonly kind: "results";
      readonly ids: readonly string[];
      /** Of the tool, where a result can bear it. */
      readonly name: string;
      /** Whether the user says something with them, where a message can hold both. */
      readonly beside: "before" | "behind" | undefined;
    };

const text = fc.oneof({ weight: 5, arbitrary: fc.stringMatching(/^[a-z]{1,20}$/) }, fc.constantFrom("", " "));
const someIds = { minLength: 1, maxLength: 3 } as const;
/** Some models give several calls of one answer the same id. */
const ids = fc.oneof(
  { weight: 2, arbitrary: fc.uniqueArray(fc.constantFrom(...callIds), someIds) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...callIds), someIds) },
);
const name = fc.constantFrom(...toolNames);
/** For a format in which a call must have a name. */
const anyName = (of: string): string => of || ".";
const thought = fc.boolean();
const beside = fc.constantFrom(undefined, undefined, "before" as const, "behind" as const);
const said: fc.Arbitrary<Said> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("user" as const), text, thought }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("assistant" as const), text, thought }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("system" as const), text, thought }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("calls" as const), ids, name, thought }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("results" as const), ids, name, beside }) },
);

/** A result, and what the user says beside it. */
const besides = <R, T>({ beside }: Said & { kind: "results" }, result: R, text: T): (R | T)[] => {
  if (beside === undefined) return [result];
  return beside === "before" ? [text, result] : [result, text];
};

const toOpenai = (one: Said): ChatMessage[] => {
  switch (one.kind) {
    case "calls":
      return [
        {
          role: "assistant",
          content: null,
          tool_calls: one.ids.map((id, place) =>
            place % 2 === 0
              ? { type: "function", id, function: { name: one.name, arguments: "{}" } }
              : { type: "custom", id, custom: { name: one.name, input: "" } },
          ),
        },
      ];
    case "results":
      return one.ids.map((id, place) => ({
        ...(place % 2 === 0 ? {} : { name: one.name }),
        role: "tool",
        tool_call_id: id,
        content: "ok",
      }));
    default:
      return [{ role: one.kind, content: one.text }];
  }
};

const toAnthropic = (one: Said): AnthropicMessage[] => {
  const thinking = { type: "thinking" as const, thinking: "Hm.", signature: "c2lnbmVk" };
  switch (one.kind) {
    case "calls":
      return [
        {
          role: "assistant",
          content: [
            ...(one.thought ? [thinking] : []),
            ...one.ids.map((id) => ({ type: "tool_use" as const, id, name: anyName(one.name), input: {} })),
          ],
        },
      ];
    case "results":
      return one.ids.map((id, index) => {
        const result = { type: "tool_result" as const, tool_use_id: id, content: "ok" };
        const text = { type: "text" as const, text: "And now?" };
        return { role: "user", content: index > 0 ? [result] : besides(one, result, text) };
      });
    case "assistant":
      return [
        {
          role: "assistant",
          content: [...(one.thought ? [thinking] : []), { type: "text" as const, text: one.text }],
        },
      ];
    default:
      return [{ role: one.kind, content: one.text }];
  }
};

/** Calls whose id is one of the first have none, nor have their responses. */
const toGemini = (one: Said): GeminiContent[] => {
  const thought = { text: "Hm.", thought: true, thoughtSignature: "c2lnbmVk" };
  const named = (id: string): { id?: string; name: string } => ({
    ...(callIds.indexOf(id) > 1 && { id }),
    name: one.kind === "calls" || one.kind === "results" ? anyName(one.name) : "",
  });
  switch (one.kind) {
    case "calls":
      return [
        {
          role: "model",
          parts: [
            ...(one.thought ? [thought] : []),
            ...one.ids.map((id) => ({ functionCall: { ...named(id), args: {} } })),
          ],
        },
      ];
    case "results":
      return one.ids.map((id, index) => {
        const result = { functionResponse: { ...named(id), response: { output: "ok" } } };
        const text = { text: "And now?" };
        return { role: "user", parts: index > 0 ? [result] : besides(one, result, text) };
      });
    case "assistant":
      return [{ role: "model", parts: [...(one.thought ? [thought] : []), { text: one.text }] }];
    default:
      return [{ role: one.kind, parts: [{ text: one.text }] }];
  }
};

const toBedrock = (one: Said): BedrockMessage[] => {
  const thought = { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2lnbmVk" } } };
  switch (one.kind) {
    case "calls":
      return [
        {
          role: "assistant",
          content: [
            ...(one.thought ? [thought] : []),
            ...one.ids.map((id) => ({ toolUse: { toolUseId: id, name: anyName(one.name), input: {} } })),
          ],
        },
      ];
    case "results":
      return one.ids.map((id, index) => {
        const result = { toolResult: { toolUseId: id, content: index > 1 ? [] : [{ text: "ok" }] } };
        const text = { text: "And now?" };
        return { role: "user", content: index > 0 ? [result] : besides(one, result, text) };
      });
    case "assistant":
      return [{ role: "assistant", content: [...(one.thought ? [thought] : []), { text: one.text }] }];
    default:
      return [{ role: one.kind, content: [{ text: one.text }] }];
  }
};

/** Calls whose id is one of the first have none, nor have their results. */
const toOllama = (one: Said): OllamaMessage[] => {
  const hasId = (id: string): boolean => callIds.indexOf(id) > 1;
  switch (one.kind) {
    case "calls": {
      const call = { function: { name: anyName(one.name), arguments: {} } };
      const tool_calls = one.ids.map((id) => (hasId(id) ? { ...call, id } : call));
      return [{ role: "assistant", content: "", ...(one.thought && { thinking: "Hm." }), tool_calls }];
    }
    case "results":
      return one.ids.map((id) => ({
        role: "tool",
        content: "ok",
        tool_name: anyName(one.name),
        ...(hasId(id) && { tool_call_id: id }),
      }));
    case "assistant":
      return [{ role: "assistant", content: one.text, ...(one.thought && { thinking: "Hm." }) }];
    default:
      return [{ role: one.kind, content: one.text }];
  }
};

const toResponses = (one: Said): ResponsesItem[] => {
  const reasoning = { type: "reasoning" as const, id: "rs_1", summary: [] };
  switch (one.kind) {
    case "calls":
      return [
        ...(one.thought ? [reasoning] : []),
        ...one.ids.map((id) => ({
          type: "function_call" as const,
          call_id: id,
          name: anyName(one.name),
          arguments: "{}",
        })),
      ];
    case "results":
      return one.ids.map((id, place) => ({
        type: "function_call_output",
        call_id: id,
        output: "ok",
        ...(place % 2 === 0 ? {} : { name: one.name }),
      }));
    case "assistant":
      return [...(one.thought ? [reasoning] : []), { role: "assistant", content: one.text }];
    default:
      return [{ role: one.kind, content: one.text }];
  }
};

/** A UI message holds its calls with their results. */
const toUi = (one: Said, index: number): UIMessageLike[] => {
  const id = `m${index}`;
  const reasoning = { type: "reasoning", text: "Hm." };
  switch (one.kind) {
    case "calls":
      return [
        {
          id,
          role: "assistant",
          parts: [
            ...(one.thought ? [reasoning] : []),
            ...one.ids.map((toolCallId, place) =>
              place % 2 === 0
                ? { type: `tool-${one.name}`, toolCallId, state: "output-available", input: {}, output: "ok" }
                : {
                    type: "dynamic-tool",
                    toolName: anyName(one.name),
                    toolCallId,
                    state: "input-available",
                    input: {},
                  },
            ),
          ],
        },
      ];
    case "results":
      return [];
    default:
      return [
        {
          id,
          role: one.kind,
          parts: [
            ...(one.kind === "assistant" && one.thought ? [reasoning] : []),
            ...[{ type: "text", text: one.text }],
          ],
        },
      ];
  }
};

const toLangchain4j = (one: Said): LangChain4jMessage[] => {
  switch (one.kind) {
    case "calls":
      return [
        { type: "AI", toolExecutionRequests: one.ids.map((id) => ({ id, name: one.name, arguments: "{}" })) },
      ];
    case "results":
      return one.ids.map((id) => ({
        type: "TOOL_EXECUTION_RESULT",
        id,
        toolName: one.name,
        contents: [{ type: "TEXT", text: "ok" }],
      }));
    case "assistant":
      return [{ type: "AI", text: one.text }];
    case "user":
      return [{ type: "USER", contents: [{ type: "TEXT", text: one.text }] }];
    default:
      return [{ type: "SYSTEM", text: one.text.trim() || "Be brief." }];
  }
};

/** A change of a message that is there, by its place. */
type Edit =
  | { readonly call: "remove" | "rewind"; readonly which: number }
  | { readonly call: "put"; readonly which: number; readonly said: Said };

/**
 * Conversations that were cut anywhere, with results in time, late, twice or never, from which now and then a step is
 * removed, the end taken back or a message replaced, in one format, for everybody that messages of this format are sent to.
 */
function testFormat<M>(
  format: MessageFormat<M>,
  write: (one: Said, index: number) => readonly M[],
  ...profiles: ProfileRules[]
): void {
  const edit = fc.option(
    fc.oneof(
      fc.record({ call: fc.constantFrom("remove" as const, "rewind" as const), which: fc.nat(20) }),
      fc.record({ call: fc.constant("put" as const), which: fc.nat(20), said }),
    ),
    { freq: 6, nil: undefined },
  );
  const conversation = fc
    .array(fc.record({ said, edit }), { minLength: 1, maxLength: 14 })
    .map((all) => all.map((one, index) => ({ messages: write(one.said, index), edit: one.edit })));
  const apply = (memory: ChatMemory<M>, change: Edit, id: string): Promise<unknown> => {
    if (change.call !== "put") return memory[change.call](id);
    const [message] = write(change.said, change.which);
    return message === undefined ? Promise.resolve() : memory.put(id, message);
  };
  const limit = fc.option(fc.integer({ min: 60, max: 400 }), { nil: undefined });

  it.each(profiles.map((profile) => [format.name, profile.name, profile] as const))(
    "%s for %s",
    async (_, __, profile) => {
      await fc.assert(
        fc.asyncProperty(conversation, limit, async (parts, maxTokens) => {
          const window = maxTokens === undefined ? undefined : { maxTokens, counter: characters };
          const memory = createChatMemory<M>({ format, profile, window });
          const ids: string[] = [];
          for (const { messages, edit } of parts) {
            ids.push(...(await memory.add(...messages)));
            const id = edit && ids[edit.which % ids.length];
            if (id !== undefined) await apply(memory, edit as Edit, id).catch(throwUnlessRefused);
            try {
              const view = await memory.messages();
              expect(await memory.messages()).toEqual(view);
              for (const one of view) format.encode(one);
              if (view.every((one) => format.role(one) === "system")) continue;
              expect(validate(view, profile, { format })).toEqual([]);
            } catch (error) {
              if (!isTurnkeepError(error, "WINDOW_OVERFLOW")) throw error;
            }
          }
        }),
        { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 40) },
      );
    },
  );
}

/** What was superseded cannot be replaced, what has left not gone back to for good, and calls with results not become anything else. */
const throwUnlessRefused = throwUnless("NOT_FOUND", "INVALID_MESSAGE", "ID_CONFLICT");

it("a result in the messages of OpenAI's APIs is shown under its tool's new name, where it bears one", () => {
  const name = "functions.weather";
  const shown = "functions_weather";
  const called = (of: string): ChatMessage[] => [
    { role: "user", content: "a" },
    {
      role: "assistant",
      tool_calls: [{ type: "function", id: "abcDEF123", function: { name: of, arguments: "{}" } }],
    },
  ];
  const answer = (of: string) =>
    ({ role: "tool", tool_call_id: "abcDEF123", name: of, content: "" }) as const;
  const messages = [...called(shown), answer(name)];
  expect(validate(messages, mistral, { format: openaiFormat })).toMatchObject([
    { rule: "tool-names", index: 2 },
  ]);
  expect(mistral.shape(messages, openaiFormat).messages).toEqual([...called(shown), answer(shown)]);

  const output = (of: string) =>
    ({ type: "function_call_output", call_id: "1", name: of, output: "" }) satisfies ResponsesItem;
  const items = (of: string): ResponsesItem[] => [
    { role: "user", content: "a" },
    { type: "function_call", call_id: "1", name: shown, arguments: "{}" },
    output(of),
  ];
  const format = openaiResponsesFormat;
  expect(validate(items(name), openaiResponses, { format })).toMatchObject([
    { rule: "tool-names", index: 2 },
  ]);
  expect(openaiResponses.shape(items(name), format).messages).toEqual(items(shown));
});

it("a function_call and the message that answers it are shown under one name", () => {
  const messages = (name: string): ChatMessage[] => [
    { role: "user", content: "a" },
    { role: "assistant", content: null, function_call: { name, arguments: "{}" } },
    { role: "function", name, content: "ok" },
  ];
  const view = openai.shape(messages("functions.weather"), openaiFormat).messages;
  expect(view).toEqual(messages("functions_weather"));
  expect(validate(view, openai, { format: openaiFormat })).toEqual([]);
});

describe("conversations in every format are never refused", () => {
  testFormat(openaiFormat, toOpenai, openai, mistral, gemini, strict);
  testFormat(openaiResponsesFormat, toResponses, openaiResponses);
  testFormat(anthropicFormat, toAnthropic, anthropic, bedrock, strict);
  testFormat(geminiFormat, toGemini, gemini);
  testFormat(bedrockFormat, toBedrock, bedrock);
  testFormat(ollamaFormat, toOllama, strict);
  testFormat(uiMessageFormat(), toUi, openai, openaiResponses, anthropic, gemini, bedrock, mistral, strict);
  testFormat(langchain4jFormat, toLangchain4j, openai, anthropic, gemini, bedrock, mistral, strict);
});
