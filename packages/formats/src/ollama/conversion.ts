import type { Conversion } from "../conversion/convert.ts";
import { ollamaFormat } from "./format.ts";
import { writeMessages } from "./from-neutral.ts";
import type { OllamaMessage } from "./messages.ts";
import { readMessages } from "./to-neutral.ts";

/**
 * For `convert` of `@turnkeep/formats/convert`. Calls without an id get one, and ids of others are written where newer
 * servers have them. A message has one text: a user's texts become messages, an answer's one. Only images that the message
 * carries have a place.
 *
 * @example
 * ```ts
 * import { convert, modelMessageConversion } from "@turnkeep/formats/convert";
 * import { ollamaConversion } from "@turnkeep/formats/ollama";
 *
 * const { messages } = convert([{ role: "user", content: "Hello" }], {
 *   from: ollamaConversion,
 *   to: modelMessageConversion,
 * });
 * ```
 */
export const ollamaConversion: Conversion<OllamaMessage> = {
  format: ollamaFormat,
  read: readMessages,
  write: writeMessages,
};
