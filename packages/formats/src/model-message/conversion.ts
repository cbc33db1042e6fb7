import { type ModelMessage, type ModelMessageLike, modelMessageFormat } from "@turnkeep/core";
import type { Conversion } from "../conversion/convert.ts";
import { writeMessages } from "./from-neutral.ts";
import { readMessages } from "./to-neutral.ts";

/**
 * For {@link convert}: core's default format, the AI SDK's `ModelMessage`. What only one provider knows (signatures,
 * cache breakpoints, item ids) goes into `providerOptions`, under the names that the SDK's packages read.
 *
 * @example
 * ```ts
 * import { user } from "@turnkeep/core";
 * import { convert, modelMessageConversion } from "@turnkeep/formats/convert";
 * import { openaiConversion } from "@turnkeep/formats/openai";
 *
 * const { messages } = convert([user("Hello")], { from: modelMessageConversion, to: openaiConversion });
 * ```
 */
export const modelMessageConversion: Conversion<ModelMessageLike, ModelMessage> = {
  format: modelMessageFormat,
  read: readMessages,
  write: writeMessages,
};
