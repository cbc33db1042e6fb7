import type { ChatMessage } from "@turnkeep/ai-sdk";
import { chatTransport, type TurnkeepChatTransport } from "@turnkeep/ai-sdk/client";
import { APICallError } from "ai";

export const transport: TurnkeepChatTransport<ChatMessage> = chatTransport();

/** What the server answered where it refused a request. */
export function statusOf(error: unknown): number | undefined {
  return APICallError.isInstance(error) ? error.statusCode : undefined;
}

export type { ChatMessage };
