import { invalidOption } from "../errors.ts";
import {
  checkCounter,
  checkFunction,
  checkNames,
  checkOneOf,
  checkOverflow,
  checkTarget,
  wrongOption,
} from "../option-checks.ts";
import type { ProviderProfile } from "../provider-profile.ts";
import type { Limit, TokenCounter, WindowOptions, WindowOverflow, WindowUnit } from "../window-options.ts";
import { type Correction, corrected, uncorrected } from "./calibration.ts";

/** Window options with every default in place. */
export interface WindowPolicy<M> extends WindowOptions<M> {
  readonly reserve: Limit;
  readonly unit: WindowUnit;
  readonly target: number;
  readonly overflow: WindowOverflow;
}

/** The limits of one call, resolved once. */
export interface Limits {
  readonly maxMessages: number;
  readonly maxTokens: number;
  /** What this many tokens of messages use of `maxTokens`, with the counter's base, as calibrated, and the reserve. */
  readonly taken: (tokens: number) => number;
}

const optionNames: readonly (keyof WindowOptions<unknown>)[] = [
  "maxMessages",
  "maxTokens",
  "counter",
  "reserve",
  "unit",
  "target",
  "cacheTtlMs",
  "overflow",
  "pinned",
  "summarize",
  "waitUntil",
];

/** Checks the options. Errors: `INVALID_OPTION`, naming the option and the value. */
export function windowPolicy<M>(
  options: WindowOptions<M> | undefined,
  profile?: ProviderProfile | undefined,
): WindowPolicy<M> {
  const window = options ?? {};
  if (typeof window !== "object")
    throw wrongOption("window", window, "an object such as { maxMessages: 20 }");
  const { maxMessages, maxTokens, counter, reserve, cacheTtlMs, pinned, summarize, waitUntil } = window;
  const unit = window.unit ?? (profile?.firstMessage === "user" ? "turn" : "step");
  if (options !== undefined && maxMessages === undefined && maxTokens === undefined) {
    const given = Object.keys(window).join(", ");
    throw invalidOption(
      `window must have maxMessages or maxTokens; it has ${given || "nothing"}. Leave window out to keep everything.`,
    );
  }
  checkNames("window", window, optionNames);
  checkLimit("window.maxMessages", maxMessages, 1);
  checkLimit("window.maxTokens", maxTokens, 1);
  checkLimit("window.reserve", reserve, 0);
  checkOneOf("window.unit", unit, ["step", "turn", "message"]);
  if (maxTokens !== undefined || counter !== undefined) checkNamedCounter(counter);
  if (maxTokens === undefined && reserve !== undefined)
    throw wrongOption("window.reserve", reserve, "given together with maxTokens");
  if (typeof reserve === "number" && typeof maxTokens === "number") checkReserve(reserve, maxTokens);
  const evictsOften = unit === "message" || (maxTokens === undefined && summarize === undefined);
  const target = window.target ?? (evictsOften ? 1 : 0.7);
  checkTarget("window.target", target);
  checkCacheTtl(cacheTtlMs, unit, target);
  const overflow = window.overflow ?? (unit === "message" ? "evict" : "throw");
  checkOverflow("window.overflow", overflow);
  checkFunction("window.pinned", pinned);
  checkSummarize({ unit, target, maxTokens }, summarize, waitUntil);
  return {
    maxMessages,
    maxTokens,
    counter,
    reserve: reserve ?? 0,
    unit,
    target,
    cacheTtlMs,
    overflow,
    pinned,
    summarize,
    waitUntil,
  };
}

function checkReserve(reserve: number, maxTokens: number): void {
  if (reserve < maxTokens) return;
  throw wrongOption("window.reserve", reserve, `smaller than window.maxTokens, which is ${maxTokens}`);
}

function checkCacheTtl(cacheTtlMs: number | undefined, unit: WindowUnit, target: number): void {
  if (cacheTtlMs === undefined) return;
  if (!Number.isSafeInteger(cacheTtlMs) || cacheTtlMs < 1)
    throw wrongOption("window.cacheTtlMs", cacheTtlMs, "a positive integer, in milliseconds");
  if (unit === "message")
    throw wrongOption(
      "window.unit",
      unit,
      "step or turn with cacheTtlMs: LangChain4j's windows know no cache",
    );
  if (target === 1)
    throw wrongOption(
      "window.target",
      target,
      "below 1 with cacheTtlMs: at 1 there is no room to make early",
    );
}

function checkSummarize(
  { unit, target, maxTokens }: { unit: WindowUnit; target: number; maxTokens: Limit | undefined },
  summarize: unknown,
  waitUntil: unknown,
): void {
  checkFunction("window.waitUntil", waitUntil);
  checkFunction("window.summarize", summarize);
  if (summarize === undefined) {
    if (waitUntil === undefined) return;
    throw invalidOption("window.waitUntil is for summaries: give window.summarize too, or leave it out.");
  }
  if (unit === "message")
    throw wrongOption(
      "window.unit",
      unit,
      "step or turn with summarize: LangChain4j's windows have no summaries",
    );
  if (target === 1 && maxTokens !== undefined)
    throw wrongOption("window.target", target, "below 1 with maxTokens and summarize: a summary needs room");
}

function checkNamedCounter(counter: TokenCounter | undefined): void {
  checkCounter("window.counter", counter);
  if (typeof counter.name !== "string" || counter.name === "")
    throw wrongOption(
      "window.counter.name",
      counter.name,
      "a non-empty text; stored counts are kept under it",
    );
}

function checkLimit(name: string, limit: Limit | undefined, least: 0 | 1): void {
  if (limit !== undefined && typeof limit !== "function") checkAnswer(name, limit, least);
}

function checkAnswer(name: string, value: unknown, least: 0 | 1): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  const sign = least === 0 ? "non-negative" : "positive";
  throw wrongOption(name, value, `a ${sign} integer, or a function that answers one`);
}

const unlimited: number = Number.POSITIVE_INFINITY;

/** Resolves the limits for one call. Anything but a positive integer is `INVALID_OPTION`; nothing is written. */
export async function resolveLimits<M>(
  policy: WindowPolicy<M>,
  memoryId: string,
  correction: Correction = uncorrected,
  profile?: ProviderProfile | undefined,
): Promise<Limits> {
  // Waits only for limits that are functions.
  const { maxMessages: messages, maxTokens: most, reserve: room } = policy;
  const ask = async (name: string, limit: (id: string) => number | Promise<number>, least: 0 | 1) =>
    checkAnswer(name, await limit(memoryId), least);
  const asked = typeof messages === "function" ? await ask("window.maxMessages", messages, 1) : messages;
  const maxMessages = Math.min(asked ?? unlimited, profile?.maxMessages ?? unlimited);
  if (most === undefined) return { maxMessages, maxTokens: unlimited, taken: (tokens) => tokens };
  const maxTokens = typeof most === "function" ? await ask("window.maxTokens", most, 1) : most;
  const reserve = typeof room === "function" ? await ask("window.reserve", room, 0) : room;
  checkReserve(reserve, maxTokens);
  const base = policy.counter?.base ?? 0;
  return { maxMessages, maxTokens, taken: (tokens) => corrected(tokens + base, correction) + reserve };
}
