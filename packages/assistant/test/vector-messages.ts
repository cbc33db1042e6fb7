import {
  decodePayload,
  encodePayload,
  equalContent,
  type MessageFormat,
  type Omission,
  type Piece,
  type TokenCounter,
} from "@turnkeep/core";
import type { AssistantMessages } from "../src/index.ts";

/** A message as the recorded LangChain4j cases write it. */
export interface VectorMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text?: string | undefined;
  readonly toolCalls?: readonly VectorCall[] | undefined;
  readonly toolCallId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly isError?: boolean | undefined;
}

export interface VectorCall {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly arguments?: string | undefined;
}

export const vectorFormat: MessageFormat<VectorMessage> = {
  name: "vector",
  version: 1,
  role: ({ role }) => role,
  toolCalls: ({ toolCalls = [] }) => toolCalls.map(({ id = "", name = "" }) => ({ id, name })),
  toolResults: ({ role, toolCallId, toolName }) =>
    role === "tool" ? [{ id: toolCallId ?? "", name: toolName }] : [],
  approvals: () => [],
  hasReasoning: () => false,
  isBoundary: () => false,
  isEmpty: ({ role, text = "", toolCalls = [] }) =>
    role !== "tool" && text.trim() === "" && toolCalls.length === 0,
  pieces: ({ role, text, toolName, toolCalls = [] }) => [
    ...textPiece(role === "tool" ? "tool-result" : "content", text),
    ...textPiece("name", toolName),
    ...toolCalls.flatMap((call) => [
      ...textPiece("name", call.name),
      ...textPiece("tool-call", call.arguments),
    ]),
  ],
  without,
  interruptedResults: (calls, text) => calls.map(({ id }) => ({ role: "tool", toolCallId: id, text })),
  equals: equalContent,
  encode: (message) => encodePayload("vector", 1, message),
  decode: (text) => decodePayload(text, "vector", 1) as VectorMessage,
};

function textPiece(of: Extract<Piece, { type: "text" }>["of"], text: string | undefined): Piece[] {
  return text === undefined ? [] : [{ type: "text", of, text }];
}

function without(
  message: VectorMessage,
  { toolCalls: isLeftOut, toolResults }: Omission,
): VectorMessage | undefined {
  const { role, toolCallId = "", toolCalls: calls } = message;
  if (role === "tool") return toolResults?.(toolCallId) === true ? undefined : message;
  const kept = calls?.filter(({ id = "" }) => isLeftOut?.(id) !== true);
  if (kept === undefined || kept.length === calls?.length) return message;
  const { toolCalls: _, ...rest } = message;
  const copy: VectorMessage = kept.length === 0 ? rest : { ...rest, toolCalls: kept };
  return vectorFormat.isEmpty(copy) ? undefined : copy;
}

export const vectorMessages: AssistantMessages<VectorMessage> = {
  system: (text) => ({ role: "system", text }),
  user: (text) => ({ role: "user", text }),
  assistant: (text) => ({ role: "assistant", text }),
  text: ({ text = "" }) => text,
  toolCalls: ({ toolCalls = [] }) =>
    toolCalls.map(({ id = "", name = "", arguments: input }) => ({ id, name, input })),
  toolResult: ({ toolCallId, toolName, output, isError }) => ({
    role: "tool",
    ...(toolCallId === "" ? {} : { toolCallId }),
    toolName,
    text: typeof output === "string" ? output : JSON.stringify(output),
    isError,
  }),
};

/** The estimator of the recorded cases, as their header defines it. */
export function vectorCounter(base: number): TokenCounter {
  return {
    name: "vector",
    base,
    count: (value) => {
      const { text = "", toolCalls = [] } = value as VectorMessage;
      const calls = toolCalls.reduce(
        (sum, call) => sum + (call.name?.length ?? 0) + (call.arguments?.length ?? 0),
        0,
      );
      return 3 + text.length + calls;
    },
  };
}
