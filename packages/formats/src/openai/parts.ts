import { asText } from "@turnkeep/core/format-kit";
import type { ChatMessage } from "./messages.ts";

/** A content part of any type, known or not; its members are what the application gave. */
export interface AnyChatPart {
  readonly type: string;
  readonly text?: unknown;
  readonly refusal?: unknown;
  readonly image_url?: { readonly url?: unknown; readonly detail?: unknown } | null;
  readonly input_audio?: { readonly data?: unknown; readonly format?: unknown } | null;
  readonly file?: { readonly file_data?: unknown } | null;
}

export function partsOf(message: ChatMessage): readonly AnyChatPart[] | undefined {
  return Array.isArray(message.content) ? (message.content as readonly AnyChatPart[]) : undefined;
}

/** Calls as they may come: also of a type that is not known here. */
export interface AnyToolCall {
  readonly id: string;
  readonly type?: string;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
  readonly custom?: { readonly name?: unknown; readonly input?: unknown } | null;
}

export function callsOf(message: ChatMessage): readonly AnyToolCall[] {
  return message.role === "assistant" ? ((message.tool_calls ?? []) as readonly AnyToolCall[]) : [];
}

export function callName(call: AnyToolCall): string {
  return asText(call.function?.name ?? call.custom?.name ?? call.type);
}

/**
 * `function_call` and its result have no id; the function's name pairs them. A blank keeps the id made of it apart
 * from every id that the API gives.
 */
const legacyPrefix = "function_call ";

export function legacyId(name: string): string {
  return legacyPrefix + name;
}

/** The function's name, if the id was made by {@link legacyId}. */
export function legacyName(id: string): string | undefined {
  return id.startsWith(legacyPrefix) ? id.slice(legacyPrefix.length) : undefined;
}
