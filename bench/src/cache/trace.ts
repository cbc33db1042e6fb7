import { createChatMemory, type TokenCounter } from "@turnkeep/core";
import type { Dialogue } from "./dialogue.ts";
import type { WindowCase } from "./policies.ts";
import { type Segment, tokensOf } from "./prompt.ts";

/** One request to the model. */
export interface Request {
  /** In seconds. */
  readonly at: number;
  readonly prompt: readonly Segment[];
  readonly output: number;
  /** Whether the window had evicted before. */
  readonly filled: boolean;
}

/** A request for a summary: another prompt than the conversation's, so that no cache serves it. */
export interface SummaryRequest {
  readonly input: number;
  readonly output: number;
}

export interface Trace {
  readonly requests: readonly Request[];
  readonly summaries: readonly SummaryRequest[];
}

/** What the stand-in for a model answers: as many tokens of text each time, and never the same text twice. */
const summaryTokens = 300;

/** A conversation's first second, in milliseconds since the epoch. */
const start = Date.UTC(2026, 0, 1);

/**
 * Plays a conversation through a memory. Each assistant message was one request, a tool loop's too; its prompt is what
 * the memory shows before that message is added. The memory's clock is the conversation's meanwhile.
 */
export async function play<M>(
  dialogue: Dialogue<M>,
  { window, summaries }: WindowCase,
  maxTokens: number,
  counter: TokenCounter,
): Promise<Trace> {
  const { format, segments, messages, times } = dialogue;
  const requests: Request[] = [];
  const asked: SummaryRequest[] = [];
  let filled = false;
  const summarize = (evicted: readonly M[]): M => {
    const answer = summaryMessage<M>(asked.length);
    asked.push({
      input: tokensOf(evicted.map((message) => segments.of(message))),
      output: segments.of(answer).tokens,
    });
    return answer;
  };
  const memory = createChatMemory<M>({
    format,
    window: {
      ...window,
      maxTokens,
      counter,
      // A step that does not fit alone is shown all the same, but by LangChain4j's algorithm.
      ...(window.unit === "message" ? {} : { overflow: "keep" as const }),
      ...(summaries ? { summarize } : {}),
    },
    onEvent: ({ type, ...event }) => {
      if (type === "summarize-failed") throw new Error(`No summary: ${JSON.stringify(event)}`);
      if (type === "evicted" || type === "summarized") filled = true;
    },
  });
  const clock = Date.now;
  let at = 0;
  Date.now = () => start + Math.round(at * 1_000);
  try {
    for (const [index, message] of messages.entries()) {
      if (index > 0 && format.role(message) === "assistant") {
        const output = segments.of(message).tokens;
        const prompt = (await memory.messages()).map((shown) => segments.of(shown));
        requests.push({ at, prompt, output, filled });
      }
      at = times[index] as number;
      await memory.add(message);
    }
    await memory.close();
  } finally {
    Date.now = clock;
  }
  return { requests, summaries: asked };
}

/** A user's message is the same in the formats that are measured: `{ role, content }`. */
function summaryMessage<M>(number: number): M {
  const text = `Summary ${number} of what was said before:${" and so on".repeat(summaryTokens / 3)}`;
  return { role: "user", content: text } as M;
}
