import type { LanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";

type Stream = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"];
type Part = Stream extends ReadableStream<infer P> ? P : never;

/** A model that numbers its answers, and says how many messages it was shown. */
export function mockModel(): LanguageModel {
  let answers = 0;
  return new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      const chunks: Part[] = [
        { type: "text-start", id: "1" },
        {
          type: "text-delta",
          id: "1",
          delta: `Answer ${++answers}, having been shown ${prompt.length} of the messages.`,
        },
        { type: "text-end", id: "1" },
        {
          type: "finish",
          finishReason: { unified: "stop", raw: undefined },
          usage: {
            inputTokens: { total: 40, noCache: 40, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 8, text: 8, reasoning: 0 },
          },
        },
      ];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
}
