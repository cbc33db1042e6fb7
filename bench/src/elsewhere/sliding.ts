import type { ModelMessageLike, TokenCounter } from "@turnkeep/core";
import { tokenCounter } from "@turnkeep/tokens";
import { billOf } from "../cache/bill.ts";
import { type Dialogue, generated } from "../cache/dialogue.ts";
import { defaultCase, windowCases } from "../cache/policies.ts";
import { cards } from "../cache/prices.ts";
import { play, type Request, type Trace } from "../cache/trace.ts";
import { shown } from "../report/table.ts";

/** A peer's way to keep a conversation within a limit. */
export type Sliding = (
  maxTokens: number,
  tokensOf: (message: ModelMessageLike) => number,
) => {
  add(message: ModelMessageLike): void;
  /** The numbers of the messages that the model is shown. */
  shown(): Promise<number[]>;
};

const maxTokens = 8_000;
const length = 1_000;
/** Less than this share, in every cache: nearly nothing. */
const nearlyNothing = 0.2;

/** What the simulated prompt caches serve of a peer's prompts, beside ours by default. */
export async function cachedWith(sliding: Sliding): Promise<{ holds: boolean; seen: string }> {
  const counter = await tokenCounter("o200k_base");
  const [dialogue] = generated(1, length, counter) as [Dialogue<ModelMessageLike>];
  const theirs = sharesOf(await playSliding(dialogue, sliding), counter);
  const window = windowCases.find(({ name }) => name === defaultCase) as (typeof windowCases)[number];
  const ours = sharesOf(await play(dialogue, window, maxTokens, counter), counter);
  return {
    holds: Math.max(...theirs) < nearlyNothing,
    seen: `${rangeOf(theirs)} of the prompts' tokens (Turnkeep: ${rangeOf(ours)})`,
  };
}

function sharesOf(trace: Trace, counter: TokenCounter): number[] {
  return cards.map((card) => billOf([trace], card, counter).cached);
}

function rangeOf(shares: readonly number[]): string {
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => shown(share * 100));
  return `${least} to ${most} %`;
}

async function playSliding(
  { messages, segments, times }: Dialogue<ModelMessageLike>,
  sliding: Sliding,
): Promise<Trace> {
  const window = sliding(maxTokens, (message) => segments.of(message).tokens);
  const requests: Request[] = [];
  for (const [index, message] of messages.entries()) {
    const { role, tokens: output } = segments.of(message);
    if (role === "assistant" && index > 0) {
      const numbers = await window.shown();
      const prompt = numbers.map((number) => segments.of(messages[number] as ModelMessageLike));
      requests.push({ at: times[index - 1] ?? 0, prompt, output, filled: numbers.length < index });
    }
    window.add(message);
  }
  return { requests, summaries: [] };
}
