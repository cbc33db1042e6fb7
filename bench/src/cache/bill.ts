import type { TokenCounter } from "@turnkeep/core";
import { mean } from "../measure.ts";
import { type Card, seconds } from "./prices.ts";
import { tokensOf } from "./prompt.ts";
import { promptCache } from "./prompt-cache.ts";
import type { Trace } from "./trace.ts";

/** What a window costs at a provider. */
export interface Bill {
  /** The share of all prompts' tokens that were read from the cache. */
  readonly cached: number;
  /** For a thousand requests, answers and summaries included. */
  readonly dollars: number;
}

/** Sums up conversations; each has its own prompts, and so its own cache. */
export function billOf(traces: readonly Trace[], card: Card, counter: TokenCounter): Bill {
  const { rules, lifetime, prices } = card;
  let prompts = 0;
  let cached = 0;
  let dollars = 0;
  let count = 0;
  for (const { requests, summaries } of traces) {
    const cache = promptCache(rules, seconds[lifetime]);
    for (const { at, prompt, output } of requests) {
      const served = cache.request(prompt, at);
      const input = tokensOf(prompt) + (counter.base ?? 0);
      const plain = input - served.cached - served.written;
      prompts += input;
      cached += served.cached;
      dollars += served.cached * prices.cached + served.written * prices.write + plain * prices.input;
      dollars += output * prices.output;
    }
    for (const { input, output } of summaries) dollars += input * prices.input + output * prices.output;
    count += requests.length;
  }
  return { cached: cached / prompts, dollars: dollars / 1e6 / (count / 1_000) };
}

/** The mean share of the limit that prompts took, from the first eviction on; `null` if there was none. */
export function useOf(traces: readonly Trace[], limit: number, counter: TokenCounter): number | null {
  const full = traces.flatMap(({ requests }) => requests.filter(({ filled }) => filled));
  if (full.length === 0) return null;
  return mean(full.map(({ prompt }) => tokensOf(prompt) + (counter.base ?? 0))) / limit;
}
