import type { Conversion } from "../conversion/convert.ts";
import { openaiFormat } from "./format.ts";
import { writeMessages } from "./from-neutral.ts";
import type { ChatMessage } from "./messages.ts";
import { readMessages } from "./to-neutral.ts";

/**
 * For `convert` of `@turnkeep/formats/convert`. A developer message is read as a system message, a custom call as a
 * call whose input is a text, `function_call` and its result as a call with an id.
 *
 * @example
 * ```ts
 * import { convert } from "@turnkeep/formats/convert";
 * import { openaiConversion } from "@turnkeep/formats/openai";
 * import { openaiResponsesConversion } from "@turnkeep/formats/openai-responses";
 *
 * const chat = [{ role: "user" as const, content: "Hello" }];
 * const { messages: items } = convert(chat, { from: openaiConversion, to: openaiResponsesConversion });
 * ```
 */
export const openaiConversion: Conversion<ChatMessage> = {
  format: openaiFormat,
  read: readMessages,
  write: writeMessages,
};
