import {
  type JsonValue,
  type ModelMessage,
  type ModelMessageLike,
  system,
  toolResult,
  user,
} from "@turnkeep/core";
import type { AssistantMessages, ToolCall, ToolResult } from "./messages.ts";

interface AnyPart {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The messages of the default format: the AI SDK's `ModelMessage`, of either major. */
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
        ? [{ id: part.toolCallId as string, name: part.toolName as string, input: part.input }]
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
