import { oneOf } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type {
  AssistantModelMessage,
  JsonValue,
  ToolModelMessage,
  UserModelMessage,
} from "./model-message.ts";

// The overload for parts comes first: a callback inside the argument keeps the types that the first overload gave it.

type UserPart = Exclude<UserModelMessage["content"], string>[number];
type AssistantPart = Exclude<AssistantModelMessage["content"], string>[number];

type KeyOf<T> = T extends unknown ? keyof T : never;

/**
 * `never` for parts with a member that no part type has. A mistyped name in a literal then falls through to the
 * overload that is not generic, which refuses it; a type parameter would accept it.
 */
type WithoutUnknownKeys<P, Part> = Exclude<KeyOf<P>, KeyOf<Part>> extends never ? P[] : never;

type TypedToolResult<T> = {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: T extends string
    ? { type: "text" | "error-text"; value: string }
    : { type: "json" | "error-json"; value: T };
};

type ResultOptions = {
  /** Whether the tool failed. Default `false`. */
  readonly isError?: boolean | undefined;
};

/** A type of JSON values with its interfaces written out: `JsonObject` takes none. `never` where JSON holds no such value. */
type WrittenOut<T> = T extends JsonValue | undefined
  ? T
  : T extends object
    ? T extends (...args: never) => unknown
      ? never
      : { [K in keyof T]: WrittenOut<T[K]> }
    : never;

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
export function system(text: string): { role: "system"; content: string } {
  return { role: "system", content: text };
}

/**
 * A user message of the default format, from text or from parts. Its type keeps the type of the parts, so it fits every
 * major (6 or 7) of the AI SDK that the parts fit: literals and the SDK's own parts. Parts of this package's types fit
 * major 7, and so does a value typed as text or parts.
 *
 * @example
 * ```ts
 * import { user } from "@turnkeep/core";
 *
 * user("Hello");
 * user([{ type: "text", text: "What is this?" }, { type: "image", image: new URL("https://example.com/cat.png") }]);
 * ```
 */
export function user<P extends UserPart>(
  parts: P[] & WithoutUnknownKeys<P, UserPart>,
): { role: "user"; content: P[] };
/** A user message of the default format, from text. Fits both majors of the AI SDK. */
export function user(text: string): { role: "user"; content: string };
/** A user message of the default format, from text or from parts. Fits the AI SDK's major 7. */
export function user(content: UserModelMessage["content"]): UserModelMessage;
export function user(content: UserModelMessage["content"]): UserModelMessage {
  return { role: "user", content };
}

/**
 * An assistant message of the default format, from text or from parts. It fits the AI SDK as {@link user} does.
 *
 * @example
 * ```ts
 * import { assistant } from "@turnkeep/core";
 *
 * assistant("Good morning.");
 * ```
 */
export function assistant<P extends AssistantPart>(
  parts: P[] & WithoutUnknownKeys<P, AssistantPart>,
): { role: "assistant"; content: P[] };
/** An assistant message of the default format, from text. Fits both majors of the AI SDK. */
export function assistant(text: string): { role: "assistant"; content: string };
/** An assistant message of the default format, from text or from parts. Fits the AI SDK's major 7. */
export function assistant(content: AssistantModelMessage["content"]): AssistantModelMessage;
export function assistant(content: AssistantModelMessage["content"]): AssistantModelMessage {
  return { role: "assistant", content };
}

/**
 * An assistant message that calls one tool, with any text that precedes the call. For several calls at once, pass their
 * parts to {@link assistant}.
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
): {
  role: "assistant";
  content: (
    | { type: "text"; text: string }
    | { type: "tool-call"; toolCallId: string; toolName: string; input: unknown }
  )[];
} {
  const call = { type: "tool-call", toolCallId, toolName, input } as const;
  return { role: "assistant", content: text === undefined ? [call] : [{ type: "text", text }, call] };
}

/**
 * A tool message that answers one call. A string is sent as text, anything else as JSON; with `isError`, as an error of
 * that kind. It fits the AI SDK's majors 6 and 7, except that major 6 does not accept an output whose type has
 * read-only arrays, as `JsonValue` does.
 *
 * Errors: `INVALID_OPTION` for an `isError` that is not a boolean, and for unknown options.
 *
 * @example
 * ```ts
 * import { toolResult } from "@turnkeep/core";
 *
 * toolResult("call-1", "weather", "No such city", { isError: true });
 * ```
 */
export function toolResult<T extends JsonValue>(
  toolCallId: string,
  toolName: string,
  output: T,
  options?: ResultOptions,
): { role: "tool"; content: TypedToolResult<T>[] };
/** The same for an output whose type is, or holds, an interface. */
export function toolResult<T extends object>(
  toolCallId: string,
  toolName: string,
  output: T & WrittenOut<T>,
  options?: ResultOptions,
): { role: "tool"; content: TypedToolResult<WrittenOut<T>>[] };
export function toolResult(
  toolCallId: string,
  toolName: string,
  output: JsonValue,
  options?: ResultOptions,
): ToolModelMessage {
  const { isError } = takeOptions("toolResult's options", resultFields, options);
  const value =
    typeof output === "string"
      ? ({ type: isError ? "error-text" : "text", value: output } as const)
      : // A tool that answers nothing still answers: without a value the result would be no valid one.
        ({ type: isError ? "error-json" : "json", value: output ?? null } as const);
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output: value }] };
}

// A misspelt option would turn an error into a success.
const resultFields = { isError: optional(oneOf(true, false), false) } satisfies Fields<ResultOptions>;
