import type { MessageFormat } from "../message-format.ts";
import { countTokens } from "../steps/item-facts.ts";
import type { TokenCounter } from "../window-options.ts";

/** The format of a tool result that consists of that text only. */
const resultText: MessageFormat<string> = {
  name: "text",
  version: 1,
  role: () => "tool",
  toolCalls: () => [],
  toolResults: () => [],
  approvals: () => [],
  hasReasoning: () => false,
  isBoundary: () => false,
  isEmpty: (text) => text === "",
  pieces: (text) => [{ type: "text", text, of: "tool-result" }],
  without: (text) => text,
  interruptedResults: () => [],
  equals: (a, b) => a === b,
  encode: (text) => JSON.stringify(text),
  decode: (text) => JSON.parse(text) as string,
};

/** The tokens of a text, without those of the message around it. */
export function textTokens(counter: TokenCounter): (text: string) => number {
  const empty = countTokens("", counter, resultText);
  return (text) => Math.max(0, countTokens(text, counter, resultText) - empty);
}
