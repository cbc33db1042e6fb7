import { AbstractChat, type ChatInit, type ChatState, type UIMessage } from "ai";

/** What `useChat` is around: the SDK's own chat, for a program without React. */
export class Chat extends AbstractChat<UIMessage> {
  constructor({ messages = [], ...init }: ChatInit<UIMessage>) {
    const state: ChatState<UIMessage> = {
      status: "ready",
      error: undefined,
      messages,
      pushMessage: (message) => {
        state.messages = [...state.messages, message];
      },
      popMessage: () => {
        state.messages = state.messages.slice(0, -1);
      },
      replaceMessage: (index, message) => {
        state.messages = state.messages.with(index, message);
      },
      snapshot: (thing) => structuredClone(thing),
    };
    super({ ...init, state });
  }
}

/** A message as `role: text`, with the states of its calls. */
export function line({ role, parts }: UIMessage): string {
  const words = parts.flatMap((part) =>
    part.type === "text" ? [part.text] : "state" in part && "toolCallId" in part ? [`[${part.state}]`] : [],
  );
  return `${role}: ${words.join(" ")}`;
}
