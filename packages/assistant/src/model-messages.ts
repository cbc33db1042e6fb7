import {
  assistant,
  type JsonValue,
  type ModelMessage,
  type ModelMessageLike,
  system,
  toolResult,
  user,
} from "@turnkeep/core";
import type { ApprovalResponse, AssistantMessages, ToolCall, ToolResult } from "./messages.ts";

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

interface StoredPart {
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
  assistant: (text) => assistant(text) satisfies ModelMessage,
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
  toolResult: ({ toolCallId, toolName, output, isError, isDenied }) =>
    isDenied === true
      ? ({
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId,
              toolName,
              output: { type: "execution-denied", reason: output as string },
            },
          ],
        } satisfies ModelMessage)
      : (toolResult(toolCallId, toolName, output as JsonValue, { isError }) satisfies ModelMessage),
  toolResults: (message) => partsOf(message).flatMap(resultOf),
  approvals: {
    request: (answer, requests) => {
      const parts = requests.map((request) => ({ type: "tool-approval-request", ...request }));
      return { ...answer, content: [...partsOf(answer), ...parts] } as ModelMessageLike;
    },
    response: (responses) =>
      ({
        role: "tool",
        content: responses.map(({ approvalId, approved, reason }) => ({
          type: "tool-approval-response",
          approvalId,
          approved,
          ...(reason === undefined ? {} : { reason }),
        })),
      }) satisfies ModelMessage,
    responses: (message) =>
      partsOf(message).flatMap(({ type, approvalId, approved, reason }): ApprovalResponse[] =>
        type === "tool-approval-response"
          ? [
              {
                approvalId: approvalId as string,
                approved: approved as boolean,
                reason: reason as string | undefined,
              },
            ]
          : [],
      ),
  },
};

function partsOf(message: ModelMessageLike): readonly StoredPart[] {
  return typeof message.content === "string"
    ? []
    : (message.content as readonly unknown[] as readonly StoredPart[]);
}

function inputOf({ input, providerOptions }: StoredPart): unknown {
  return providerOptions?.turnkeep?.unreadableInput ?? input;
}

function resultOf(part: StoredPart): ToolResult[] {
  if (part.type !== "tool-result") return [];
  const { type, value, reason } = part.output as { type: string; value?: unknown; reason?: unknown };
  const isDenied = type === "execution-denied";
  return [
    {
      toolCallId: part.toolCallId as string,
      toolName: part.toolName as string,
      output: (isDenied ? reason : value) ?? null,
      isError: isDenied || type.startsWith("error-"),
      ...(isDenied ? { isDenied } : {}),
    },
  ];
}
