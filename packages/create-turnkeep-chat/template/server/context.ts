import { type ChatMemory, type ExplainedMessage, isTurnkeepError } from "@turnkeep/core";
import type { UIMessage } from "ai";
import type { Context, ContextMessage } from "../src/context.ts";
import { memories } from "./chat.ts";
import { textOf } from "./text.ts";

/** What the model would be shown of a chat now. `undefined` if there is none of this owner's by that id. */
export async function contextOf(id: string, owner: string): Promise<Context | undefined> {
  const memory = memoryOf(id, owner);
  if (memory === undefined) return undefined;
  try {
    const { messages, tokens, maxTokens = 0 } = await memory.explain();
    return messages.length === 0 ? undefined : { tokens, maxTokens, messages: messages.map(told) };
  } catch (error) {
    if (isTurnkeepError(error, "OWNER_MISMATCH")) return undefined;
    throw error;
  }
}

/** An id of more than 512 bytes, or with U+0000, is no chat's. */
function memoryOf(id: string, owner: string): ChatMemory<UIMessage> | undefined {
  try {
    return memories.get(id, { owner });
  } catch (error) {
    if (isTurnkeepError(error, "INVALID_OPTION")) return undefined;
    throw error;
  }
}

function told({ state, by, stored, shown, tokens }: ExplainedMessage<UIMessage>): ContextMessage {
  const message = stored ?? shown;
  const text = message === undefined ? "" : textOf(message).slice(0, 80);
  return { role: message?.role ?? "", text, state, by, tokens };
}
