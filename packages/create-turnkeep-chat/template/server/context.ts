import { type ExplainedMessage, isTurnkeepError } from "@turnkeep/core";
import type { UIMessage } from "ai";
import type { Context, ContextMessage } from "../src/context.ts";
import { memories } from "./chat.ts";
import { textOf } from "./text.ts";

/** What the model would be shown of a chat now. `undefined` if it is somebody else's. */
export async function contextOf(id: string, owner: string): Promise<Context | undefined> {
  try {
    const { messages, tokens, maxTokens = 0 } = await memories.get(id, { owner }).explain();
    return { tokens, maxTokens, messages: messages.map(told) };
  } catch (error) {
    if (isTurnkeepError(error, "OWNER_MISMATCH")) return undefined;
    throw error;
  }
}

function told({ state, by, stored, shown, tokens }: ExplainedMessage<UIMessage>): ContextMessage {
  const message = stored ?? shown;
  const text = message === undefined ? "" : textOf(message).slice(0, 80);
  return { role: message?.role ?? "", text, state, by, tokens };
}
