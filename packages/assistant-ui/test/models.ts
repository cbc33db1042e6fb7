import { inTwo } from "@turnkeep/store-tests/gate";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";

type Stream = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"];
type Part = Stream extends ReadableStream<infer P> ? P : never;
type Prompt = Parameters<MockLanguageModelV4["doStream"]>[0]["prompt"];
/** What a model says: a text, or parts, which may be waited for. */
export type Reply = string | readonly Part[] | (() => AsyncGenerator<Part>);

const finish: Part = {
  type: "finish",
  finishReason: { unified: "stop", raw: "end" },
  usage: {
    inputTokens: { total: 4, noCache: 4, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 2, text: 2, reasoning: 0 },
  },
};

export const says = (text: string): Part[] => [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: text },
  { type: "text-end", id: "1" },
];

let calls = 0;
export const callsTool = (toolName: string, input: object = {}): Part[] => [
  { type: "tool-call", toolCallId: `call-${++calls}`, toolName, input: JSON.stringify(input) },
];

/** The SDK's published mock, and what it was asked, as `role: text`. */
export function modelOf(replies: readonly Reply[]): {
  readonly model: MockLanguageModelV4;
  readonly prompts: string[][];
} {
  const rest = replies.values();
  const prompts: string[][] = [];
  const model = new MockLanguageModelV4({
    doStream: async ({ prompt, abortSignal }) => {
      prompts.push(prompt.map(told));
      const reply = rest.next().value ?? "The script has ended.";
      if (typeof reply === "function") return { stream: streamOf(reply(), abortSignal) };
      const parts = typeof reply === "string" ? says(reply) : reply;
      const isCall = parts.some(({ type }) => type === "tool-call");
      const end = isCall ? { ...finish, finishReason: { unified: "tool-calls", raw: "end" } } : finish;
      return {
        stream: simulateReadableStream({
          chunks: [...parts, end as Part],
          initialDelayInMs: null,
          chunkDelayInMs: null,
        }),
      };
    },
  });
  return { model, prompts };
}

/** As a provider's connection, it breaks off at the signal. */
function streamOf(parts: AsyncGenerator<Part>, signal: AbortSignal | undefined): ReadableStream<Part> {
  return new ReadableStream({
    start: (controller) => signal?.addEventListener("abort", () => controller.error(signal.reason)),
    async pull(controller) {
      const { done, value = finish } = await parts.next();
      if (signal?.aborted) return;
      controller.enqueue(value);
      if (done) controller.close();
    },
  });
}

function told({ role, content }: Prompt[number]): string {
  if (typeof content === "string") return `${role}: ${content}`;
  const words = content.map((part) => {
    if (part.type === "text" || part.type === "reasoning") return part.text;
    if (part.type === "tool-call") return `[${part.toolName}]`;
    if (part.type === "tool-result")
      return `(${(part.output as { value?: unknown }).value ?? part.output.type})`;
    return `<${part.type}>`;
  });
  return `${role}: ${words.join(" ")}`;
}

/** A model whose answer has two parts, the second when it may. */
export function slowly(before: string, after: string): ReturnType<typeof inTwo<Part>> {
  return inTwo<Part>(
    [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: before },
    ],
    [
      { type: "text-delta", id: "1", delta: after },
      { type: "text-end", id: "1" },
    ],
  );
}
