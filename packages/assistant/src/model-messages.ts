import {
  type JsonValue,
  type ModelMessage,
  type ModelMessageLike,
  system,
  toolResult,
  user,
} from "@turnkeep/core";
import type { AssistantMessages, ToolCall, ToolResult } from "./messages.ts";

/**
 * A call whose input is not a JSON object. Providers take back objects only, so the message holds an empty one and,
 * beside it, what the model wrote, which no provider looks at.
 */
export function unreadableInput(text: string): {
  readonly input: Record<string, never>;
  readonly providerOptions: { readonly turnkeep: { readonly unreadableInput: string } };
} {
  return { input: {}, providerOptions: { turnkeep: { unreadableInput: text } } };
}

export function isObject(input: unknown): input is object {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

interface AnyPart {
  readonly type: string;
  readonly providerOptions?:
    | { readonly turnkeep?: { readonly unreadableInput?: unknown } | undefined }
    | undefined;
  readonly [member: string]: unknown;
}

/** For messages of the default format: the AI SDK's `ModelMessage`, of major 6 or 7. */
export const modelMessages: AssistantMessages<ModelMessageLike> = {
  system: (text) => system(text),
  user: (text) => user(text) satisfies ModelMessage,
  text: (message) =>
    typeof message.content === "string"
      ? message.content
      : partsOf(message)
          .flatMap((part) => (part.type === "text" ? [part.text as string] : []))
          .join(""),
  toolCalls: (message) =>
    partsOf(message).flatMap((part): ToolCall[] =>
      part.type === "tool-call" && part.providerExecuted !== true
        ? [{ id: part.toolCallId as string, name: part.toolName as string, input: inputOf(part) }]
        : [],
    ),
  toolResult: ({ toolCallId, toolName, output, isError }) =>
    toolResult(toolCallId, toolName, output as JsonValue, { isError }) satisfies ModelMessage,
  toolResults: (message) => partsOf(message).flatMap(resultOf),
};

function partsOf(message: ModelMessageLike): readonly AnyPart[] {
  return typeof message.content === "string"
    ? []
    : (message.content as readonly unknown[] as readonly AnyPart[]);
}

function inputOf({ input, providerOptions }: AnyPart): unknown {
  return providerOptions?.turnkeep?.unreadableInput ?? input;
}

function resultOf(part: AnyPart): ToolResult[] {
  if (part.type !== "tool-result") return [];
  const { type, value } = part.output as { type: string; value?: unknown };
  return [
    {
      toolCallId: part.toolCallId as string,
      toolName: part.toolName as string,
      output: value ?? null,
      isError: type.startsWith("error-") || type === "execution-denied",
    },
  ];
}
