import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { LanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";

type Options = Parameters<MockLanguageModelV4["doStream"]>[0];
type Message = Options["prompt"][number];
type Stream = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"];
type Part = Stream extends ReadableStream<infer P> ? P : never;

const wordMs = Number(process.env.MOCK_WORD_MS ?? 40);

const help =
  "This is a mock model, which needs no key. Ask it to book a train to Oslo, and you are asked first. " +
  "Ask for a long answer, and stop it or load the page while it is made. " +
  "With AI_GATEWAY_API_KEY set, a real model answers.";

/** What answers while there is no key: word by word, and with calls of `book` for trains to a city. */
export function mockModel(): LanguageModel {
  return new MockLanguageModelV4({
    doStream: async ({ prompt, abortSignal }) => ({
      stream: Readable.toWeb(Readable.from(partsOf(prompt, abortSignal))) as Stream,
    }),
  });
}

async function* partsOf(prompt: Options["prompt"], signal: AbortSignal | undefined): AsyncGenerator<Part> {
  const last = prompt.at(-1);
  const question = last?.role === "user" ? questionIn(last) : "";
  const cities = [...question.matchAll(/\bto (\p{Lu}\p{L}+)/gu)].map(([, city]) => city);
  if (cities.length > 0) {
    for (const city of cities) yield callOf(city);
    return yield finish(prompt, "tool-calls", cities.length);
  }
  const words = (last?.role === "tool" ? resultsIn(last) : answerTo(question)).split(" ");
  yield { type: "text-start", id: "1" };
  for (const word of words) {
    await sleep(wordMs, undefined, { signal });
    yield { type: "text-delta", id: "1", delta: `${word} ` };
  }
  yield { type: "text-end", id: "1" };
  yield finish(prompt, "stop", words.length);
}

function answerTo(question: string): string {
  if (!/\blong\b/i.test(question)) return `You said: “${question}”. ${help}`;
  return `${Array.from({ length: 120 }, (_, index) => `word ${index + 1},`).join(" ")} and that is the end.`;
}

function callOf(city: string | undefined): Part {
  const input = JSON.stringify({ city });
  return { type: "tool-call", toolCallId: crypto.randomUUID(), toolName: "book", input };
}

function finish(prompt: Options["prompt"], reason: "stop" | "tool-calls", output: number): Part {
  const input = Math.ceil(JSON.stringify(prompt).length / 4);
  return {
    type: "finish",
    finishReason: { unified: reason, raw: undefined },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
  };
}

function questionIn({ content }: Extract<Message, { role: "user" }>): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function resultsIn({ content }: Extract<Message, { role: "tool" }>): string {
  const results = content.map((part) =>
    part.type === "tool-result" && part.output.type === "text"
      ? part.output.value
      : "Not booked, as you wish.",
  );
  return results.join(" ");
}
