import type {
  AssistantModelMessage,
  JsonValue,
  SystemModelMessage,
  ToolCallPart,
  ToolModelMessage,
  UserModelMessage,
} from "./model-message.ts";

/**
 * A system message of the default format.
 *
 * @example
 * ```ts
 * import { system } from "@turnkeep/core";
 *
 * system("You are brief."); // { role: "system", content: "You are brief." }
 * ```
 */
export function system(text: string): SystemModelMessage {
  return { role: "system", content: text };
}

/**
 * A user message of the default format, from text or from parts.
 *
 * @example
 * ```ts
 * import { user } from "@turnkeep/core";
 *
 * user("Hello");
 * user([{ type: "text", text: "What is this?" }, { type: "image", image: new URL("https://example.com/cat.png") }]);
 * ```
 */
export function user(content: UserModelMessage["content"]): UserModelMessage {
  return { role: "user", content };
}

/**
 * An assistant message of the default format, from text or from parts.
 *
 * @example
 * ```ts
 * import { assistant } from "@turnkeep/core";
 *
 * assistant("Good morning.");
 * ```
 */
export function assistant(content: AssistantModelMessage["content"]): AssistantModelMessage {
  return { role: "assistant", content };
}

/**
 * An assistant message that calls one tool, with the text that goes before the call, if any. For several calls at once
 * give {@link assistant} their parts.
 *
 * @example
 * ```ts
 * import { toolCall, toolResult } from "@turnkeep/core";
 *
 * toolCall("call-1", "weather", { city: "Oslo" });
 * toolResult("call-1", "weather", { celsius: 4 });
 * ```
 */
export function toolCall(
  toolCallId: string,
  toolName: string,
  input: unknown,
  text?: string,
): AssistantModelMessage {
  const call: ToolCallPart = { type: "tool-call", toolCallId, toolName, input };
  return assistant(text === undefined ? [call] : [{ type: "text", text }, call]);
}

/**
 * A tool message that answers one call: text as text, anything else as JSON; with `isError` as an error of that kind.
 *
 * @example
 * ```ts
 * import { toolResult } from "@turnkeep/core";
 *
 * toolResult("call-1", "weather", "No such city", { isError: true });
 * ```
 */
export function toolResult(
  toolCallId: string,
  toolName: string,
  output: JsonValue,
  options?: { readonly isError?: boolean | undefined },
): ToolModelMessage {
  const isError = options?.isError === true;
  const value =
    typeof output === "string"
      ? ({ type: isError ? "error-text" : "text", value: output } as const)
      : // A tool that answers nothing still answers: without a value the result would be no valid one.
        ({ type: isError ? "error-json" : "json", value: output ?? null } as const);
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output: value }] };
}
