import type { Conversion } from "../conversion/convert.ts";
import { anthropicFormat } from "./format.ts";
import { writeMessages } from "./from-neutral.ts";
import type { AnthropicMessage } from "./messages.ts";
import { readMessages } from "./to-neutral.ts";

/**
 * For `convert` of `@turnkeep/formats/convert`. Documents made of blocks, and search results, are read as their texts
 * and images. Thinking is written only with a signature that this API gave it; results of one answer share a message.
 *
 * @example
 * ```ts
 * import { anthropicConversion } from "@turnkeep/formats/anthropic";
 * import { convert, modelMessageConversion } from "@turnkeep/formats/convert";
 *
 * const { messages } = convert([{ role: "user", content: "Hello" }], {
 *   from: anthropicConversion,
 *   to: modelMessageConversion,
 * });
 * ```
 */
export const anthropicConversion: Conversion<AnthropicMessage> = {
  format: anthropicFormat,
  read: readMessages,
  write: writeMessages,
};
