import type { ModelMessage } from "@turnkeep/core";
import type { Contender } from "./contender.ts";

/** What is used of `@langchain/core/messages`. */
export interface LangChainMessages {
  readonly HumanMessage: new (fields: { content: string }) => object;
  readonly SystemMessage: new (fields: { content: string }) => object;
  readonly AIMessage: new (fields: { content: string; tool_calls: object[] }) => object;
  readonly ToolMessage: new (fields: { content: string; tool_call_id: string; name: string }) => object;
  mapChatMessagesToStoredMessages(messages: object[]): { type: string; data: object }[];
}

/** What is used of a `BaseListChatMessageHistory`. */
export interface LangChainHistory {
  addMessage(message: object): Promise<void>;
  getMessages(): Promise<object[]>;
}

/**
 * LangChain's history of a session: `addMessage`, `getMessages`. It has no window: each read brings all messages, and
 * trimming them is left to the application, so that its time does not count here.
 */
export function langChain(
  name: string,
  messages: LangChainMessages,
  historyOf: (conversation: string) => LangChainHistory,
  fill: (conversation: string, messages: readonly { type: string; data: object }[]) => Promise<void>,
  close: () => Promise<void>,
): Contender {
  const filled = new Set<string>();
  return {
    name,
    kind: "peer",
    async fill(conversation, said) {
      if (filled.has(conversation)) return;
      filled.add(conversation);
      await fill(
        conversation,
        messages.mapChatMessagesToStoredMessages(said.map((message) => toLangChain(message, messages))),
      );
    },
    open(conversation) {
      const history = historyOf(conversation);
      return {
        async append(message) {
          await history.addMessage(toLangChain(message, messages));
          return false;
        },
        read: () => history.getMessages(),
      };
    },
    close,
  };
}

function toLangChain(message: ModelMessage, classes: LangChainMessages): object {
  const parts = typeof message.content === "string" ? [] : message.content;
  const content =
    typeof message.content === "string"
      ? message.content
      : parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  switch (message.role) {
    case "system":
      return new classes.SystemMessage({ content });
    case "user":
      return new classes.HumanMessage({ content });
    case "assistant": {
      const calls = parts.flatMap((part) =>
        part.type === "tool-call"
          ? [{ id: part.toolCallId, name: part.toolName, args: part.input, type: "tool_call" }]
          : [],
      );
      return new classes.AIMessage({ content, tool_calls: calls });
    }
    default: {
      const result = parts.find((part) => part.type === "tool-result");
      if (result === undefined) throw new Error("A tool message of the benchmark has one result");
      return new classes.ToolMessage({
        content: JSON.stringify(result.output),
        tool_call_id: result.toolCallId,
        name: result.toolName,
      });
    }
  }
}
