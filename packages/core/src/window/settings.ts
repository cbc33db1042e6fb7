import { invalidOption, type TurnkeepError } from "../errors.ts";
import { type Check, callback, oneOf, share, such, tokenCounter, wrongOption } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type { ProviderProfile } from "../provider-profile.ts";
import type { Limit, TokenCounter, WindowOptions, WindowOverflow, WindowUnit } from "../window-options.ts";
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

const namedCounter: Check<TokenCounter> = (name, value) => {
  tokenCounter(name, value);
  const counter = value as TokenCounter;
  if (typeof counter.name === "string" && counter.name !== "") return;
  throw wrongOption(`${name}.name`, counter.name, "a non-empty text; stored counts are kept under it");
};

const fields = {
  maxMessages: optional(limit(1)),
  maxTokens: optional(limit(1)),
  counter: optional(namedCounter),
  reserve: optional(limit(0)),
  unit: optional(oneOf(...(Object.keys(units) as WindowUnit[]))),
  target: optional(share),
  cacheTtlMs: optional(such<number>("a positive integer, in milliseconds", isPositive)),
  overflow: optional(oneOf("throw", "keep", "evict")),
  pinned: optional(callback),
  summarize: optional(callback),
  waitUntil: optional(callback),
} satisfies Fields<WindowOptions<unknown>>;

/** What the options come to. Errors: `INVALID_OPTION`, naming the option and the value. */
export function windowSettings<M>(
  options: WindowOptions<M> | undefined,
  profile: ProviderProfile | undefined,
): WindowSettings<M> {
  if (options !== undefined) checkLimitsSomething(options);
  const given = takeOptions("window", fields, options, "window.");
  const { maxTokens, counter, summarize } = given;
  if (maxTokens !== undefined && counter === undefined) throw missingCounter();
  checkReserved(given);
  const unit = units[given.unit ?? defaultUnit(profile)];
  const suggested = maxTokens === undefined && summarize === undefined ? 1 : 0.7;
  const target = given.target ?? unit.defaults.target ?? suggested;
  const overflow = given.overflow ?? unit.defaults.overflow;
  const settings = { ...given, reserve: given.reserve ?? 0, unit, target, overflow };
  checkCacheTtl(settings);
  checkSummaries(settings);
  return settings;
}

function missingCounter(): TurnkeepError {
  const counters = 'await tokenCounter("gpt-4o"), or await boundCounter("anthropic")';
  return invalidOption(`window.maxTokens needs a window.counter: ${counters}, of @turnkeep/tokens.`);
}

function checkLimitsSomething<M>(window: WindowOptions<M> | null): void {
  if (typeof window !== "object")
    throw wrongOption("window", window, "an object such as { maxMessages: 20 }");
  if (window?.maxMessages !== undefined || window?.maxTokens !== undefined) return;
  const given = Object.keys(window ?? {}).join(", ");
  throw invalidOption(
    `window must have maxMessages or maxTokens; it has ${given || "nothing"}. Leave window out to keep everything.`,
  );
}

function checkReserved<M>({ maxTokens, reserve }: WindowOptions<M>): void {
  if (maxTokens === undefined && reserve !== undefined)
    throw wrongOption("window.reserve", reserve, "given together with maxTokens");
  if (typeof reserve === "number" && typeof maxTokens === "number") checkReserve(reserve, maxTokens);
}

function checkCacheTtl<M>({ cacheTtlMs, unit, target }: WindowSettings<M>): void {
  if (cacheTtlMs === undefined) return;
  checkUnitHas("cacheTtlMs", unit);
  if (target < 1) return;
  const expected = "below 1 with cacheTtlMs: at 1 there is no room to make early";
  throw wrongOption("window.target", target, expected);
}

function checkSummaries<M>({ maxTokens, unit, target, summarize, waitUntil }: WindowSettings<M>): void {
  if (summarize === undefined) {
    if (waitUntil === undefined) return;
    throw invalidOption("window.waitUntil is for summaries: give window.summarize too, or leave it out.");
  }
  checkUnitHas("summarize", unit);
  if (target < 1 || maxTokens === undefined) return;
  throw wrongOption("window.target", target, "below 1 with maxTokens and summarize: a summary needs room");
}

function checkUnitHas(option: keyof EvictionUnit["refuses"], unit: EvictionUnit): void {
  const why = unit.refuses[option];
  if (why === undefined) return;
  const others = Object.values(units).filter(({ refuses }) => refuses[option] === undefined);
  const names = others.map(({ name }) => name).join(" or ");
  throw wrongOption("window.unit", unit.name, `${names} with ${option}: ${why}`);
}

function limit(least: 0 | 1): Check<Limit> {
  return (name, value) => {
    if (typeof value !== "function") checkAnswer(name, value, least);
  };
}

function isPositive(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
