import type { LanguageModel } from "ai";
import * as mocks from "ai/test";

export type Part = { readonly type: string; readonly [member: string]: unknown };
/** What a model says: parts, or an error; a function is asked when it is its turn. */
export type Reply = Part[] | Error | (() => Part[] | Promise<Part[]> | AsyncGenerator<Part>);

export interface Prompt {
  readonly role: string;
  readonly content: unknown;
}

interface Model {
  readonly model: LanguageModel;
  /** What it was asked, one after the other. */
  readonly prompts: (readonly Prompt[])[];
}

let calls = 0;

export const says = (text: string): Part[] => [{ type: "text", text }];

/** Each call under an id of its own, whatever is called. */
export const callsTool = (toolName: string, input: object = {}): Part[] => [
  { type: "tool-call", toolCallId: `call-${++calls}`, toolName, input: JSON.stringify(input) },
];

/** The published mock of the major that the test runs with: it answers these, one after the other. */
export function modelOf(...replies: Reply[]): Model {
  const rest = replies.values();
  const prompts: Prompt[][] = [];
  const next = async (prompt: readonly Prompt[]) => {
    // What a provider is sent is JSON.
    prompts.push(JSON.parse(JSON.stringify(prompt)));
    const reply = rest.next().value ?? new Error("The script has ended.");
    const content = typeof reply === "function" ? await reply() : reply;
    if (content instanceof Error) throw content;
    if (!Array.isArray(content)) return { content, finishReason: { unified: "stop", raw: "end" }, usage };
    const isCall = content.some(({ type }) => type === "tool-call");
    return { content, finishReason: { unified: isCall ? "tool-calls" : "stop", raw: "end" }, usage };
  };
  const options = {
    doGenerate: async ({ prompt }: { prompt: Prompt[] }) => ({ ...(await next(prompt)), warnings: [] }),
    doStream: async ({ prompt, abortSignal }: { prompt: Prompt[]; abortSignal?: AbortSignal }) => {
      const { content, ...end } = await next(prompt);
      if (!Array.isArray(content))
        return { stream: streamOf(content, { type: "finish", ...end }, abortSignal) };
      const chunks = [...content.flatMap(chunksOf), { type: "finish", ...end }];
      return {
        stream: mocks.simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }),
      };
    },
  };
  // Major 6 has the mock of the version before.
  const { MockLanguageModelV4: Mock = mocks.MockLanguageModelV3 } = mocks as {
    MockLanguageModelV4?: unknown;
  };
  return { model: new (Mock as new (settings: object) => LanguageModel)(options), prompts };
}

const usage = {
  inputTokens: { total: 40, noCache: 10, cacheRead: 30, cacheWrite: 0 },
  outputTokens: { total: 8, text: 8, reasoning: 0 },
};

/** As a provider's connection, it breaks off at the signal. */
function streamOf(
  parts: AsyncGenerator<Part>,
  end: Part,
  signal: AbortSignal | undefined,
): ReadableStream<Part> {
  return new ReadableStream({
    start: (controller) => signal?.addEventListener("abort", () => controller.error(signal.reason)),
    async pull(controller) {
      const { done, value = end } = await parts.next();
      if (signal?.aborted) return;
      controller.enqueue(value);
      if (done) controller.close();
    },
  });
}

function chunksOf(part: Part, index: number): Part[] {
  if (part.type !== "text" && part.type !== "reasoning") return [part];
  const id = `${index}`;
  const deltas = String(part.text).match(/\S+\s*|\s+/gu) ?? [];
  return [
    { type: `${part.type}-start`, id },
    ...deltas.map((delta) => ({ type: `${part.type}-delta`, id, delta })),
    { type: `${part.type}-end`, id },
  ];
}

/** A message of a prompt or a memory, as `role: text [calls] (results)`. */
export function told({ role, content }: { readonly role: string; readonly content: unknown }): string {
  const parts = typeof content === "string" ? says(content) : (content as Part[]);
  const words = parts.map((part) => {
    if (part.type === "tool-call") return `[${part.toolName}]`;
    if (part.type !== "tool-result") return part.text ?? part.type;
    const { type, value, reason } = part.output as { type: string; value?: unknown; reason?: unknown };
    return `(${value ?? reason ?? type})`;
  });
  return `${role}: ${words.join(" ")}`;
}
