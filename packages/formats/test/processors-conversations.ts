import type { MessageFormat } from "@turnkeep/core";
import fc from "fast-check";
import { type UIMessageLike, uiMessageFormat } from "../src/ai-sdk.ts";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { type BedrockMessage, bedrockFormat } from "../src/bedrock.ts";
import { type GeminiContent, geminiFormat } from "../src/gemini.ts";
import { type LangChain4jMessage, langchain4jFormat } from "../src/langchain4j.ts";
import { type OllamaMessage, ollamaFormat } from "../src/ollama.ts";
import { type ChatMessage, openaiFormat } from "../src/openai.ts";
import { openaiResponsesFormat, type ResponsesItem } from "../src/openai-responses.ts";

/** A turn, in no format yet: a question, calls that are all answered, an answer. Its texts begin with its number. */
export interface Turn {
  readonly words: number;
  readonly image: boolean;
  readonly thought: boolean;
  readonly tools: readonly (readonly ("search" | "read")[])[];
  readonly said: boolean;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  words: fc.nat(30),
  image: fc.boolean(),
  thought: fc.boolean(),
  tools: fc.array(fc.array(fc.constantFrom("search", "read"), { minLength: 1, maxLength: 2 }), {
    maxLength: 2,
  }),
  said: fc.boolean(),
});

export const turns: fc.Arbitrary<Turn[]> = fc.array(turn, { minLength: 1, maxLength: 6 });

const pixel = "iVBORw0KGgo=";
const textOf = (number: number, { words }: Turn): string => `${number}: ${"word ".repeat(words)}sk-1234`;
const callId = (number: number, step: number, call: number): string => `call_${number}_${step}_${call}`;

type Convert<M> = (turn: Turn, number: number) => M[];

const toOpenai: Convert<ChatMessage> = (turn, number) => {
  const text = textOf(number, turn);
  const url = `data:image/png;base64,${pixel}`;
  return [
    {
      role: "user",
      content: turn.image
        ? [
            { type: "text", text },
            { type: "image_url", image_url: { url } },
          ]
        : text,
    },
    ...turn.tools.flatMap((tools, step): ChatMessage[] => [
      {
        role: "assistant",
        content: turn.said ? text : null,
        tool_calls: tools.map((name, call) => ({
          type: "function",
          id: callId(number, step, call),
          function: { name, arguments: JSON.stringify({ text }) },
        })),
      },
      ...tools.map(
        (_, call): ChatMessage => ({ role: "tool", tool_call_id: callId(number, step, call), content: text }),
      ),
    ]),
    { role: "assistant", content: text },
  ];
};

const toAnthropic: Convert<AnthropicMessage> = (turn, number) => {
  const text = textOf(number, turn);
  const thinking = turn.thought ? [{ type: "thinking" as const, thinking: text, signature: "c2ln" }] : [];
  const image = {
    type: "image" as const,
    source: { type: "base64" as const, media_type: "image/png" as const, data: pixel },
  };
  return [
    { role: "user", content: [{ type: "text", text }, ...(turn.image ? [image] : [])] },
    ...turn.tools.flatMap((tools, step): AnthropicMessage[] => [
      {
        role: "assistant",
        content: [
          ...thinking,
          ...(turn.said ? [{ type: "text" as const, text }] : []),
          ...tools.map((name, call) => ({
            type: "tool_use" as const,
            id: callId(number, step, call),
            name,
            input: { text },
          })),
        ],
      },
      {
        role: "user",
        content: tools.map((_, call) => ({
          type: "tool_result" as const,
          tool_use_id: callId(number, step, call),
          content: [{ type: "text" as const, text }, ...(turn.image ? [image] : [])],
        })),
      },
    ]),
    { role: "assistant", content: [...thinking, { type: "text", text }] },
  ];
};

const toGemini: Convert<GeminiContent> = (turn, number) => {
  const text = textOf(number, turn);
  const thought = turn.thought ? [{ text, thought: true, thoughtSignature: "c2ln" }] : [];
  const image = { inlineData: { mimeType: "image/png", data: pixel } };
  return [
    { role: "user", parts: [{ text }, ...(turn.image ? [image] : [])] },
    ...turn.tools.flatMap((tools, step): GeminiContent[] => [
      {
        role: "model",
        parts: [
          ...thought,
          ...(turn.said ? [{ text }] : []),
          ...tools.map((name, call) => ({
            functionCall: { id: callId(number, step, call), name, args: { text } },
          })),
        ],
      },
      {
        role: "user",
        parts: tools.map((name, call) => ({
          functionResponse: {
            id: callId(number, step, call),
            name,
            response: { output: text },
            ...(turn.image && { parts: [image] }),
          },
        })),
      },
    ]),
    { role: "model", parts: [...thought, { text }] },
  ];
};

const toBedrock: Convert<BedrockMessage> = (turn, number) => {
  const text = textOf(number, turn);
  const thought = turn.thought ? [{ reasoningContent: { reasoningText: { text, signature: "c2ln" } } }] : [];
  const image = {
    image: {
      format: "png" as const,
      source: { bytes: Uint8Array.from(atob(pixel), (sign) => sign.charCodeAt(0)) },
    },
  };
  return [
    { role: "user", content: [{ text }, ...(turn.image ? [image] : [])] },
    ...turn.tools.flatMap((tools, step): BedrockMessage[] => [
      {
        role: "assistant",
        content: [
          ...thought,
          ...(turn.said ? [{ text }] : []),
          ...tools.map((name, call) => ({
            toolUse: { toolUseId: callId(number, step, call), name, input: { text } },
          })),
        ],
      },
      {
        role: "user",
        content: tools.map((_, call) => ({
          toolResult: {
            toolUseId: callId(number, step, call),
            content: [{ text }, ...(turn.image ? [image] : [])],
          },
        })),
      },
    ]),
    { role: "assistant", content: [...thought, { text }] },
  ];
};

/** Calls have no ids. */
const toOllama: Convert<OllamaMessage> = (turn, number) => {
  const text = textOf(number, turn);
  return [
    { role: "user", content: text, ...(turn.image && { images: [pixel] }) },
    ...turn.tools.flatMap((tools): OllamaMessage[] => [
      {
        role: "assistant",
        content: turn.said ? text : "",
        ...(turn.thought && { thinking: text }),
        tool_calls: tools.map((name) => ({ function: { name, arguments: { text } } })),
      },
      ...tools.map((name): OllamaMessage => ({ role: "tool", content: text, tool_name: name })),
    ]),
    { role: "assistant", content: text, ...(turn.thought && { thinking: text }) },
  ];
};

const toResponses: Convert<ResponsesItem> = (turn, number) => {
  const text = textOf(number, turn);
  const reasoning: ResponsesItem[] = turn.thought
    ? [{ type: "reasoning", id: `rs_${number}`, summary: [{ type: "summary_text", text }] }]
    : [];
  return [
    { role: "user", content: text },
    ...turn.tools.flatMap((tools, step): ResponsesItem[] => [
      ...reasoning,
      ...(turn.said ? [{ role: "assistant" as const, content: text }] : []),
      ...tools.map(
        (name, call): ResponsesItem => ({
          type: "function_call",
          call_id: callId(number, step, call),
          name,
          arguments: JSON.stringify({ text }),
        }),
      ),
      ...tools.map(
        (_, call): ResponsesItem => ({
          type: "function_call_output",
          call_id: callId(number, step, call),
          output: text,
        }),
      ),
    ]),
    ...reasoning,
    { role: "assistant", content: text },
  ];
};

/** A UI message holds a whole answer: its calls with their results. */
const toUi: Convert<UIMessageLike> = (turn, number) => {
  const text = textOf(number, turn);
  const file = { type: "file", mediaType: "image/png", url: `data:image/png;base64,${pixel}` };
  return [
    { id: `q${number}`, role: "user", parts: [{ type: "text", text }, ...(turn.image ? [file] : [])] },
    {
      id: `a${number}`,
      role: "assistant",
      parts: [
        ...(turn.thought ? [{ type: "reasoning", text }] : []),
        ...turn.tools.flatMap((tools, step) =>
          tools.map((name, call) => ({
            type: `tool-${name}`,
            toolCallId: callId(number, step, call),
            state: "output-available",
            input: { text },
            output: { text },
          })),
        ),
        { type: "text", text },
      ],
    },
  ];
};

const toLangchain4j: Convert<LangChain4jMessage> = (turn, number) => {
  const text = textOf(number, turn);
  return [
    { type: "USER", contents: [{ type: "TEXT", text }] },
    ...turn.tools.flatMap((tools, step): LangChain4jMessage[] => [
      {
        type: "AI",
        ...(turn.said && { text }),
        toolExecutionRequests: tools.map((name, call) => ({
          id: callId(number, step, call),
          name,
          arguments: JSON.stringify({ text }),
        })),
      },
      ...tools.map(
        (toolName, call): LangChain4jMessage => ({
          type: "TOOL_EXECUTION_RESULT",
          id: callId(number, step, call),
          toolName,
          contents: [{ type: "TEXT", text }],
        }),
      ),
    ]),
    { type: "AI", text },
  ];
};

/** A format with the system message and the turns of a conversation in it. */
export interface Dialect<M> {
  readonly name: string;
  readonly format: MessageFormat<M>;
  readonly conversation: (turns: readonly Turn[]) => M[];
}

function dialect<M>(
  name: string,
  format: MessageFormat<M>,
  system: M,
  convert: Convert<M>,
): Dialect<unknown> {
  const conversation = (all: readonly Turn[]): M[] => [system, ...all.flatMap(convert)];
  return { name, format, conversation } as unknown as Dialect<unknown>;
}

const be = { type: "text", text: "Be brief." };
const uiSystem: UIMessageLike = { id: "s", role: "system", parts: [be] };

export const dialects: readonly Dialect<unknown>[] = [
  dialect("openai", openaiFormat, { role: "system", content: "Be brief." }, toOpenai),
  dialect("openai-responses", openaiResponsesFormat, { role: "system", content: "Be brief." }, toResponses),
  dialect("anthropic", anthropicFormat, { role: "system", content: "Be brief." }, toAnthropic),
  dialect("gemini", geminiFormat, { role: "system", parts: [{ text: "Be brief." }] }, toGemini),
  dialect("bedrock", bedrockFormat, { role: "system", content: [{ text: "Be brief." }] }, toBedrock),
  dialect("ollama", ollamaFormat, { role: "system", content: "Be brief." }, toOllama),
  dialect("ai-sdk", uiMessageFormat(), uiSystem, toUi),
  dialect("langchain4j", langchain4jFormat, { type: "SYSTEM", text: "Be brief." }, toLangchain4j),
];
