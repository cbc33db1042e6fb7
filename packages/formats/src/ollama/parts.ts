import type { OllamaMessage, OllamaToolCall } from "./messages.ts";

/** A call as it may come; its members are what the application gave. */
export interface AnyToolCall {
  readonly id?: unknown;
  readonly function: AnyFunction;
}

export interface AnyFunction {
  readonly name: string;
  readonly arguments?: unknown;
}

export function callsOf({ role, tool_calls: calls }: OllamaMessage): readonly AnyToolCall[] {
  return role === "assistant" ? ((calls ?? []) as readonly OllamaToolCall[]) : [];
}

/** An image is base64 or bytes. */
export function imagesOf({ images }: OllamaMessage): readonly (Uint8Array | string)[] {
  return images ?? [];
}

export function thoughtOf({ thinking }: OllamaMessage): string {
  return thinking ?? "";
}

/** The message without that member. */
export function without(message: OllamaMessage, member: keyof OllamaMessage): OllamaMessage {
  const { [member]: _, ...rest } = message;
  return rest as OllamaMessage;
}
