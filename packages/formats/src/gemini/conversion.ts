import type { Conversion } from "../conversion/convert.ts";
import { geminiFormat } from "./format.ts";
import { writeContents } from "./from-neutral.ts";
import type { GeminiContent } from "./messages.ts";
import { readContents } from "./to-neutral.ts";

/**
 * For `convert` of `@turnkeep/formats/convert`. Calls without an id get one. Thought signatures arrive as the AI SDK names
 * them (`google.thoughtSignature`). A result that is a text or a list becomes the `output` of the function response, and one
 * of a tool that failed its `error`, as Gemini's API calls them.
 *
 * @example
 * ```ts
 * import { convert, modelMessageConversion } from "@turnkeep/formats/convert";
 * import { geminiConversion } from "@turnkeep/formats/gemini";
 *
 * const { messages } = convert([{ role: "user", parts: [{ text: "Hello" }] }], {
 *   from: geminiConversion,
 *   to: modelMessageConversion,
 * });
 * ```
 */
export const geminiConversion: Conversion<GeminiContent> = {
  format: geminiFormat,
  read: readContents,
  write: writeContents,
};
