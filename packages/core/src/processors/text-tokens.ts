import type { MessageFormat } from "../message-format.ts";
import { countTokens } from "../steps/item.ts";
import type { TokenCounter } from "../window-options.ts";

/** A message that is a tool's result of that text and nothing else. */
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

/** What a text costs beyond the message that it stands in. */
export function textTokens(counter: TokenCounter): (text: string) => number {
  const empty = countTokens("", counter, resultText);
  return (text) => Math.max(0, countTokens(text, counter, resultText) - empty);
}
