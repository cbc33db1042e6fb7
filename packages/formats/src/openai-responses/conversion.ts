import type { Conversion } from "../conversion/convert.ts";
import { openaiResponsesFormat } from "./format.ts";
import { writeItems } from "./from-neutral.ts";
import type { ResponsesItem } from "./items.ts";
import { readItems } from "./to-neutral.ts";

/**
 * For `convert` of `@turnkeep/formats/convert`. Consecutive items of the model are read as one message, and custom
 * calls as calls whose input is a text. Reasoning is written only if it names the item that this API made of it.
 *
 * @example
 * ```ts
 * import { anthropicConversion } from "@turnkeep/formats/anthropic";
 * import { convert } from "@turnkeep/formats/convert";
 * import { openaiResponsesConversion } from "@turnkeep/formats/openai-responses";
 *
 * const items = [{ role: "user" as const, content: "Hello" }];
 * const { messages, lost } = convert(items, { from: openaiResponsesConversion, to: anthropicConversion });
 * ```
 */
export const openaiResponsesConversion: Conversion<ResponsesItem> = {
  format: openaiResponsesFormat,
  read: readItems,
  write: writeItems,
};
