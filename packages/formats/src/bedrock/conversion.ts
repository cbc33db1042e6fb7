import type { Conversion } from "../conversion/convert.ts";
import { bedrockFormat } from "./format.ts";
import { writeMessages } from "./from-neutral.ts";
import type { BedrockMessage } from "./messages.ts";
import { readMessages } from "./to-neutral.ts";

/**
 * For `convert` of `@turnkeep/formats/convert`. Reasoning is written only with a signature that this API gave it; it arrives
 * elsewhere as the AI SDK names it (`bedrock.signature`). Results of one answer share a message. Documents have a name here,
 * of the letters and signs that the API takes.
 *
 * @example
 * ```ts
 * import { bedrockConversion } from "@turnkeep/formats/bedrock";
 * import { convert, modelMessageConversion } from "@turnkeep/formats/convert";
 *
 * const { messages } = convert([{ role: "user", content: [{ text: "Hello" }] }], {
 *   from: bedrockConversion,
 *   to: modelMessageConversion,
 * });
 * ```
 */
export const bedrockConversion: Conversion<BedrockMessage> = {
  format: bedrockFormat,
  read: readMessages,
  write: writeMessages,
};
