import { callback, type Fields, optional, takeOptions } from "@turnkeep/core/store-kit";
import type { Conversion } from "../conversion/convert.ts";
import { dataPartConverter } from "./data-parts.ts";
import { type UIMessageFormatOptions, uiMessageFormat } from "./format.ts";
import { writeMessages } from "./from-neutral.ts";
import type { UIMessageLike } from "./messages.ts";
import { readMessages } from "./to-neutral.ts";

/** Options of {@link uiMessageConversion}: what only the application knows. */
export interface UIMessageConversionOptions extends UIMessageFormatOptions {
  /** The id of each written message, by its index in the list. Default: `message-1` and so on. */
  readonly generateId?: ((index: number) => string) | undefined;
}

const fields = {
  convertDataPart: optional(callback),
  generateId: optional(callback, (index: number) => `message-${index + 1}`),
} satisfies Fields<UIMessageConversionOptions>;

/**
 * For `convert` of `@turnkeep/formats/convert`. A UI message is read step by step, as the SDK sends it. An answer is
 * written as one message, with its calls, their results and what the model says after them. Calls are written as parts
 * `tool-<name>`; a result without an earlier call is lost.
 *
 * Errors: `INVALID_OPTION` for an unknown option, and from `convert` if `generateId` returns no text.
 *
 * @example
 * ```ts
 * import { uiMessageConversion } from "@turnkeep/formats/ai-sdk";
 * import { convert } from "@turnkeep/formats/convert";
 * import { openaiConversion } from "@turnkeep/formats/openai";
 * import type { UIMessage } from "ai";
 *
 * const { messages } = convert([{ role: "user", content: "Hello" }], {
 *   from: openaiConversion,
 *   to: uiMessageConversion<UIMessage>(),
 * });
 * // [{ id: "message-1", role: "user", parts: [{ type: "text", text: "Hello" }] }]
 * ```
 */
export function uiMessageConversion<M extends UIMessageLike = UIMessageLike>(
  options?: UIMessageConversionOptions,
): Conversion<M> {
  const taken = takeOptions("uiMessageConversion's argument", fields, options);
  const convertDataPart = dataPartConverter(taken.convertDataPart);
  const { generateId } = taken;
  return {
    format: uiMessageFormat<M>({ convertDataPart }),
    read: (messages, losses) => readMessages(messages, losses, convertDataPart),
    write: (messages, losses) => writeMessages(messages, losses, generateId) as M[],
  };
}
