import type { Conversion } from "../conversion/convert.ts";
import { langchain4jFormat } from "./format.ts";
import { writeMessages } from "./from-neutral.ts";
import type { LangChain4jMessage } from "./messages.ts";
import { readMessages } from "./to-neutral.ts";

/**
 * For `convert` of `@turnkeep/formats/convert`. Calls without an id get one, and so do the results that are paired with
 * them by tool name. An answer's texts are written as one, and so is its reasoning.
 *
 * @example
 * ```ts
 * import { convert } from "@turnkeep/formats/convert";
 * import { langchain4jConversion, messagesFromJson } from "@turnkeep/formats/langchain4j";
 * import { openaiConversion } from "@turnkeep/formats/openai";
 *
 * const json = '[{"contents":[{"text":"Hello","type":"TEXT"}],"type":"USER"}]';
 * const messages = messagesFromJson(json).filter((message) => message !== null);
 * const { messages: chat } = convert(messages, { from: langchain4jConversion, to: openaiConversion });
 * ```
 */
export const langchain4jConversion: Conversion<LangChain4jMessage> = {
  format: langchain4jFormat,
  read: readMessages,
  write: writeMessages,
};
