import type { LanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";

type Options = Parameters<MockLanguageModelV4["doStream"]>[0];
type Message = Options["prompt"][number];
type Stream = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"];
type Part = Stream extends ReadableStream<infer P> ? P : never;

/** A model that calls `book` for each city of a question, says what the tool has answered, and numbers its answers. */
export function mockModel(): LanguageModel {
  let answers = 0;
  return new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      answers++;
      const last = prompt.at(-1);
      const cities = last?.role === "user" ? [...textIn(last).matchAll(/\bto (\p{Lu}\p{L}+)/gu)] : [];
      const text = last?.role === "tool" ? resultIn(last) : "Where do you want to go?";
      const parts: Part[] =
        cities.length === 0
          ? [
              { type: "text-start", id: "1" },
              { type: "text-delta", id: "1", delta: `${text} (answer ${answers})` },
              { type: "text-end", id: "1" },
            ]
          : cities.map(([, city], n) => ({
              type: "tool-call",
              toolCallId: `call-${answers}-${n}`,
              toolName: "book",
              input: JSON.stringify({ city }),
            }));
      const finish: Part = {
        type: "finish",
        finishReason: { unified: cities.length === 0 ? "stop" : "tool-calls", raw: undefined },
        usage: {
          inputTokens: { total: 40, noCache: 40, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 8, text: 8, reasoning: 0 },
        },
      };
      return { stream: simulateReadableStream({ chunks: [...parts, finish] }) };
    },
  });
}

function textIn({ content }: Extract<Message, { role: "user" }>): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function resultIn({ content }: Extract<Message, { role: "tool" }>): string {
  const [result] = content;
  if (result?.type !== "tool-result") return "";
  return result.output.type === "text" ? result.output.value : "Not booked then.";
}
