import { DefaultChatTransport, isToolUIPart, type UIMessage } from "ai";

/**
 * For the browser: `useChat({ transport: chatTransport() })`. It posts the newest message alone, and of an answer only what
 * the user decides on its calls. To edit a question that others stand behind, say what the tab shows:
 * `sendMessage({ text, messageId }, { body: { seen: messages.at(-1)?.id } })`.
 */
export function chatTransport(fetch?: typeof globalThis.fetch): DefaultChatTransport<UIMessage> {
  return new DefaultChatTransport<UIMessage>({
    api: "http://localhost:3000/api/chat",
    ...(fetch && { fetch }),
    prepareSendMessagesRequest: ({ id, messages, body }) => ({
      body: { id, message: said(messages.at(-1) as UIMessage), seen: body?.seen },
    }),
  });
}

function said({ id, role, parts }: UIMessage): UIMessage {
  const isDecision = (part: UIMessage["parts"][number]): boolean =>
    isToolUIPart(part) && part.state === "approval-responded";
  return { id, role, parts: role === "assistant" ? parts.filter(isDecision) : parts };
}
