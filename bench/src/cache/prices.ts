import type { CacheRules } from "./prompt-cache.ts";

/** In dollars for a million tokens. */
export interface Prices {
  readonly input: number;
  /** Read from the cache. */
  readonly cached: number;
  /** Written to the cache: in place of `input`, not beside it. */
  readonly write: number;
  readonly output: number;
}

/** A model's prices and its cache, as documented. */
export interface Card {
  readonly model: string;
  /** How long the cache keeps what is not used. */
  readonly lifetime: "5 min" | "30 min" | "1 h";
  readonly rules: CacheRules;
  readonly prices: Prices;
  /** When the prices were read. */
  readonly date: string;
  readonly source: string;
}

export const seconds: Readonly<Record<Card["lifetime"], number>> = {
  "5 min": 300,
  "30 min": 1_800,
  "1 h": 3_600,
};

/**
 * OpenAI, guide "Prompt caching", for models before GPT-5.6: from 1,024 tokens, in increments of 128, writes are free,
 * kept for 5 to 10 minutes without use and for an hour at most.
 */
export const blocksOf128: CacheRules = { kind: "blocks", block: 128, minimum: 1_024 };

/**
 * The same guide and the reference of `prompt_cache_options`, for GPT-5.6 and later: from 1,024 tokens, one breakpoint
 * behind the newest input message, matched against the latest 80, writes at 1.25 times the input, kept for 30 minutes
 * from the last use.
 */
export const implicitBreakpoint: CacheRules = {
  kind: "breakpoints",
  minimum: 1_024,
  lookback: 80,
  places: "inputs",
  system: false,
};

/**
 * Anthropic, "Prompt caching": from 1,024 tokens for the Sonnet models, entries are written at breakpoints only and
 * looked for in 20 places, runs of calls and of results being one; writes at 1.25 times the input for 5 minutes, twice
 * the input for an hour, prolonged by each use. The breakpoints here: behind the system message, and behind the newest
 * message, where automatic caching puts it.
 */
export const anthropicBreakpoints: CacheRules = {
  kind: "breakpoints",
  minimum: 1_024,
  lookback: 20,
  places: "blocks",
  system: true,
};

const openai = "https://developers.openai.com/api/docs/pricing";
const anthropic = "https://platform.claude.com/docs/en/about-claude/pricing";
const sonnet = { input: 2, cached: 0.1, output: 10 };
const gpt54 = { input: 2.5, cached: 0.25, write: 2.5, output: 15 };

export const cards: readonly Card[] = [
  {
    model: "GPT-5.4",
    lifetime: "5 min",
    rules: blocksOf128,
    prices: gpt54,
    date: "2026-06",
    source: `${openai}, as https://www.morphllm.com/openai-api-pricing gives it`,
  },
  {
    model: "GPT-5.4",
    lifetime: "1 h",
    rules: blocksOf128,
    prices: gpt54,
    date: "2026-06",
    source: `${openai}, as https://www.morphllm.com/openai-api-pricing gives it`,
  },
  {
    model: "GPT-6 Sol",
    lifetime: "30 min",
    rules: implicitBreakpoint,
    prices: { input: 2, cached: 0.2, write: 2.5, output: 10 },
    date: "2026-09-23",
    source: `${openai}, as https://github.com/zJay26/codex-usage/releases/tag/v2.7.1 gives it`,
  },
  {
    model: "Claude Sonnet 5.5",
    lifetime: "5 min",
    rules: anthropicBreakpoints,
    prices: { ...sonnet, write: 2.5 },
    date: "2026-10-24",
    source: `${anthropic}, as https://github.com/kurofune/claudit/releases/tag/v1.9.2 gives it`,
  },
  {
    model: "Claude Sonnet 5.5",
    lifetime: "1 h",
    rules: anthropicBreakpoints,
    prices: { ...sonnet, write: 4 },
    date: "2026-10-24",
    source: `${anthropic}, as https://github.com/kurofune/claudit/releases/tag/v1.9.2 gives it`,
  },
];

export function labelOf({ model, lifetime }: Card): string {
  return `${model}, ${lifetime}`;
}
