import type { ChatMessage } from "@turnkeep/ai-sdk";
import { chatTransport } from "@turnkeep/ai-sdk/client";
import { APICallError } from "ai";

export const transport = chatTransport<ChatMessage>();

/** What the server answered where it refused a request. */
export function statusOf(error: unknown): number | undefined {
  return APICallError.isInstance(error) ? error.statusCode : undefined;
}

export type { ChatMessage };
