import { DefaultChatTransport, type UIMessage } from "ai";

/** For the browser: `useChat({ transport: chatTransport() })`. It posts the newest message alone. */
export function chatTransport(fetch?: typeof globalThis.fetch): DefaultChatTransport<UIMessage> {
  return new DefaultChatTransport<UIMessage>({
    api: "http://localhost:3000/api/chat",
    ...(fetch && { fetch }),
    prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
      body: { id, message: messages.at(-1), trigger, messageId },
    }),
  });
}
