import { TokenLimiterProcessor } from "@mastra/core/processors";
import { convert } from "./window.mjs";

/** The roles of the next request, where a tool's result is larger than the limit. */
export async function afterALargeResult() {
  const call = { type: "tool-call", toolCallId: "call-1", toolName: "orders", input: {} };
  const output = { type: "text", value: "One more order. ".repeat(1_000) };
  const prompt = [
    { role: "system", content: "You answer questions about orders." },
    { role: "user", content: [{ type: "text", text: "What did I order?" }] },
    { role: "assistant", content: [call] },
    { role: "tool", content: [{ ...call, type: "tool-result", output }] },
  ];
  const limiter = new TokenLimiterProcessor({ limit: 500 });
  const trimmed = await limiter.processLLMRequest({ prompt });
  return (trimmed?.prompt ?? prompt).map(({ role }) => role);
}

/** A conversation through the limiter: which of the messages so far it shows, by their numbers. */
export function sliding(maxTokens) {
  const limiter = new TokenLimiterProcessor({ limit: maxTokens });
  const prompt = [];
  const numbers = new Map();
  return {
    add(message) {
      const converted = convert(message);
      numbers.set(converted, prompt.length);
      prompt.push(converted);
    },
    async shown() {
      const trimmed = await limiter.processLLMRequest({ prompt });
      return (trimmed?.prompt ?? prompt).map((message) => numbers.get(message));
    },
  };
}
