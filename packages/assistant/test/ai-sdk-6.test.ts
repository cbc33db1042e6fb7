import { MockLanguageModelV3, simulateReadableStream } from "ai6/test";
import { describe, vi } from "vitest";
import { streamOf, testsOf } from "./ai-sdk-models.ts";

vi.mock("ai", () => import("ai6"));

const usage = {
  inputTokens: { total: 10, noCache: 3, cacheRead: 6, cacheWrite: 1 },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};

describe("AI SDK 6", () => {
  testsOf((answers) => {
    const rest = answers.values();
    const next = () => {
      const answer = rest.next().value ?? new Error("the script has ended");
      if (answer instanceof Error) throw answer;
      const isCall = answer.some(({ type }) => type === "tool-call");
      const ends = new Map([
        ["4 deg", "length"],
        ["4 brok", "error"],
        ["4 endl", "other"],
      ] as const);
      const end = answer.map(({ text }) => ends.get(text as never)).find((each) => each !== undefined);
      const unified = end ?? (isCall ? "tool-calls" : "stop");
      const finishReason = { unified, raw: undefined } as const;
      return { content: answer as never[], finishReason };
    };
    const model = new MockLanguageModelV3({
      doGenerate: async () => ({ ...next(), usage, warnings: [] }),
      doStream: async () => {
        const { content, finishReason } = next();
        const chunks = [...streamOf(content), { type: "finish", finishReason, usage }];
        return { stream: simulateReadableStream({ chunks: chunks as never[] }) };
      },
    });
    return { model, requests: () => [...model.doGenerateCalls, ...model.doStreamCalls] };
  });
});
