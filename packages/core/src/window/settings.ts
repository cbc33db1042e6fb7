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
import type { Limit, TokenCounter, WindowOptions, WindowOverflow } from "../window-options.ts";
import { checkAnswer, checkReserve } from "./limits.ts";
import type { EvictionUnit } from "./units/unit.ts";
import { defaultUnit, units } from "./units/units.ts";

/** What the options of a window come to: checked, with every default in place. */
export interface WindowSettings<M> extends Omit<WindowOptions<M>, "unit"> {
  readonly reserve: Limit;
  readonly unit: EvictionUnit;
  readonly target: number;
  readonly overflow: WindowOverflow;
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
export function windowSettings<M>(
  options: WindowOptions<M> | undefined,
  profile?: ProviderProfile | undefined,
): WindowSettings<M> {
  const window = options ?? {};
  if (typeof window !== "object")
    throw wrongOption("window", window, "an object such as { maxMessages: 20 }");
  const { maxMessages, maxTokens, counter, reserve, cacheTtlMs, pinned, summarize, waitUntil } = window;
  const unitName = window.unit ?? defaultUnit(profile);
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
  checkOneOf("window.unit", unitName, Object.keys(units));
  const unit = units[unitName];
  if (maxTokens !== undefined || counter !== undefined) checkNamedCounter(counter);
  if (maxTokens === undefined && reserve !== undefined)
    throw wrongOption("window.reserve", reserve, "given together with maxTokens");
  if (typeof reserve === "number" && typeof maxTokens === "number") checkReserve(reserve, maxTokens);
  const suggested = maxTokens === undefined && summarize === undefined ? 1 : 0.7;
  const target = window.target ?? unit.defaults.target ?? suggested;
  checkTarget("window.target", target);
  checkCacheTtl(cacheTtlMs, unit, target);
  const overflow = window.overflow ?? unit.defaults.overflow;
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

function checkCacheTtl(cacheTtlMs: number | undefined, unit: EvictionUnit, target: number): void {
  if (cacheTtlMs === undefined) return;
  if (!Number.isSafeInteger(cacheTtlMs) || cacheTtlMs < 1)
    throw wrongOption("window.cacheTtlMs", cacheTtlMs, "a positive integer, in milliseconds");
  checkUnitHas("cacheTtlMs", unit);
  if (target === 1)
    throw wrongOption(
      "window.target",
      target,
      "below 1 with cacheTtlMs: at 1 there is no room to make early",
    );
}

function checkUnitHas(option: keyof EvictionUnit["refuses"], unit: EvictionUnit): void {
  const why = unit.refuses[option];
  if (why === undefined) return;
  const others = Object.values(units).filter(({ refuses }) => refuses[option] === undefined);
  const names = others.map(({ name }) => name).join(" or ");
  throw wrongOption("window.unit", unit.name, `${names} with ${option}: ${why}`);
}

function checkSummarize(
  { unit, target, maxTokens }: { unit: EvictionUnit; target: number; maxTokens: Limit | undefined },
  summarize: unknown,
  waitUntil: unknown,
): void {
  checkFunction("window.waitUntil", waitUntil);
  checkFunction("window.summarize", summarize);
  if (summarize === undefined) {
    if (waitUntil === undefined) return;
    throw invalidOption("window.waitUntil is for summaries: give window.summarize too, or leave it out.");
  }
  checkUnitHas("summarize", unit);
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
