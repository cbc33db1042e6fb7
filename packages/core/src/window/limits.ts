import { wrongOption } from "../option-checks.ts";
import type { ProviderProfile } from "../provider-profile.ts";
import { type Correction, corrected, uncorrected } from "./calibration.ts";
import type { WindowSettings } from "./settings.ts";

/** The limits of one call, resolved once. */
export interface Limits {
  readonly maxMessages: number;
  readonly maxTokens: number;
  /** What this many tokens of messages use of `maxTokens`, with the counter's base, as calibrated, and the reserve. */
  readonly taken: (tokens: number) => number;
}

const unbounded: number = Number.POSITIVE_INFINITY;

/** For what does not depend on a window. */
export const unlimited: Limits = {
  maxMessages: unbounded,
  maxTokens: unbounded,
  taken: (tokens) => tokens,
};

/** Resolves the limits for one call. Anything but a positive integer is `INVALID_OPTION`; nothing is written. */
export async function resolveLimits<M>(
  settings: WindowSettings<M>,
  memoryId: string,
  correction: Correction = uncorrected,
  profile?: ProviderProfile | undefined,
): Promise<Limits> {
  // Waits only for limits that are functions.
  const { maxMessages: messages, maxTokens: most, reserve: room } = settings;
  const ask = async (name: string, limit: (id: string) => number | Promise<number>, least: 0 | 1) =>
    checkAnswer(name, await limit(memoryId), least);
  const asked = typeof messages === "function" ? await ask("window.maxMessages", messages, 1) : messages;
  const maxMessages = Math.min(asked ?? unbounded, profile?.maxMessages ?? unbounded);
  if (most === undefined) return { maxMessages, maxTokens: unbounded, taken: (tokens) => tokens };
  const maxTokens = typeof most === "function" ? await ask("window.maxTokens", most, 1) : most;
  const reserve = typeof room === "function" ? await ask("window.reserve", room, 0) : room;
  checkReserve(reserve, maxTokens);
  const base = settings.counter?.base ?? 0;
  return { maxMessages, maxTokens, taken: (tokens) => corrected(tokens + base, correction) + reserve };
}

export function checkAnswer(name: string, value: unknown, least: 0 | 1): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  const sign = least === 0 ? "non-negative" : "positive";
  throw wrongOption(name, value, `a ${sign} integer, or a function that answers one`);
}

export function checkReserve(reserve: number, maxTokens: number): void {
  if (reserve < maxTokens) return;
  throw wrongOption("window.reserve", reserve, `smaller than window.maxTokens, which is ${maxTokens}`);
}
