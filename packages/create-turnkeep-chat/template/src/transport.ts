import type { ChatMessage } from "@turnkeep/ai-sdk";
import { chatTransport } from "@turnkeep/ai-sdk/client";

export const transport = chatTransport<ChatMessage>();

export type { ChatMessage };
