import type { LanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";

type Options = Parameters<MockLanguageModelV4["doStream"]>[0];
type Stream = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"];
type Part = Stream extends ReadableStream<infer P> ? P : never;

/** A model that calls the tool `weather` for the cities of a question, and then says what the tool has answered. */
export function mockModel(): LanguageModel {
  let calls = 0;
  return new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      const last = prompt.at(-1);
      const parts: Part[] =
        last?.role === "tool" ? textParts(resultsIn(last)) : partsFor(textIn(last), () => `call-${++calls}`);
      const isCall = parts.some(({ type }) => type === "tool-call");
      const finish: Part = {
        type: "finish",
        finishReason: { unified: isCall ? "tool-calls" : "stop", raw: undefined },
        usage: {
          inputTokens: { total: 40, noCache: 40, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 8, text: 8, reasoning: 0 },
        },
      };
      return { stream: simulateReadableStream({ chunks: [...parts, finish] }) };
    },
  });
}

function partsFor(question: string, nextId: () => string): Part[] {
  const cities = [...question.matchAll(/\b(?:in|and)\s+(\p{Lu}\p{L}+)/gu)].map(([, city]) => city);
  if (cities.length === 0) return textParts("Ask me for the weather in a city.");
  return cities.map((city) => ({
    type: "tool-call",
    toolCallId: nextId(),
    toolName: "weather",
    input: JSON.stringify({ city }),
  }));
}

function textParts(text: string): Part[] {
  const words = text.match(/\S+\s*/g) ?? [];
  return [
    { type: "text-start", id: "1" },
    ...words.map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
    { type: "text-end", id: "1" },
  ];
}

function textIn(message: Options["prompt"][number] | undefined): string {
  if (message?.role !== "user") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function resultsIn(message: Extract<Options["prompt"][number], { role: "tool" }>): string {
  const results = message.content.flatMap((part) =>
    part.type === "tool-result" && part.output.type === "text" ? [part.output.value] : [],
  );
  return `${results.join(", and ")}.`;
}
