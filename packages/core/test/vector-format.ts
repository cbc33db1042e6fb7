import type { MessageFormat, Role } from "../src/message-format.ts";
import type { TokenCounter } from "../src/window-options.ts";

/** A message as the recorded LangChain4j cases write it. Null is one too: LangChain4j gives it a place. */
export type VectorMessage = RecordedMessage | null;

interface RecordedMessage {
  readonly role: "system" | "user" | "assistant" | "tool" | "custom";
  readonly text?: string;
  readonly contents?: readonly { readonly type: string; readonly text?: string }[];
  readonly toolCalls?: readonly {
    readonly id?: string;
    readonly name?: string;
    readonly arguments?: string;
  }[];
  readonly toolCallId?: string;
  readonly toolName?: string;
}

/** Holds those messages as they are; a custom message and null count as a user's. */
export const vectorFormat: MessageFormat<VectorMessage> = {
  name: "vector",
  version: 1,
  role: (message): Role => (message === null || message.role === "custom" ? "user" : message.role),
  toolCalls: (message) => (message?.toolCalls ?? []).map(({ id = "", name = "" }) => ({ id, name })),
  toolResults: (message) =>
    message?.role === "tool" ? [{ id: message.toolCallId ?? "", name: message.toolName }] : [],
  approvals: () => [],
  hasReasoning: () => false,
  isBoundary: () => false,
  isEmpty: () => false,
  pieces: () => [],
  without: (message) => message,
  interruptedResults: (calls, text) => calls.map(({ id }) => ({ role: "tool", toolCallId: id, text })),
  equals: (a, b) => JSON.stringify(a) === JSON.stringify(b),
  encode: (message) => JSON.stringify(message),
  decode: (text) => JSON.parse(text) as VectorMessage,
};

function textsOf(message: RecordedMessage): string[] {
  const contents = (message.contents ?? []).flatMap((content) =>
    content.type === "text" ? [content.text ?? ""] : [],
  );
  return message.text === undefined ? contents : [message.text, ...contents];
}

/** The estimator of the recorded cases, as their header defines it. */
export function vectorCounter(listOverhead: number): TokenCounter {
  return {
    name: "vector",
    base: listOverhead,
    count: (value) => {
      const message = value as VectorMessage;
      if (message === null) throw new TypeError("message cannot be null");
      const texts = textsOf(message).reduce((sum, text) => sum + text.length, 0);
      const calls = (message.toolCalls ?? []).reduce(
        (sum, call) => sum + (call.name?.length ?? 0) + (call.arguments?.length ?? 0),
        0,
      );
      return 3 + texts + calls;
    },
  };
}
