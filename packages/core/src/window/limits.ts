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

/** The limits of a window as numbers. */
interface Numbers {
  readonly maxMessages?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly reserve: number;
}

/**
 * Resolves the limits for one call: a promise only if the application is asked for some. Anything but a positive integer
 * is `INVALID_OPTION`; nothing is written.
 */
export function resolveLimits<M>(
  settings: WindowSettings<M>,
  memoryId: string,
  correction: Correction = uncorrected,
  profile?: ProviderProfile | undefined,
): Limits | Promise<Limits> {
  const base = settings.counter?.base ?? 0;
  const limitsOf = ({ maxMessages: most = unbounded, maxTokens = unbounded, reserve }: Numbers): Limits => {
    const maxMessages = Math.min(most, profile?.maxMessages ?? unbounded);
    if (maxTokens === unbounded) return { ...unlimited, maxMessages };
    checkReserve(reserve, maxTokens);
    return { maxMessages, maxTokens, taken: (tokens) => corrected(tokens + base, correction) + reserve };
  };
  return areNumbers(settings) ? limitsOf(settings) : askedFor(settings, memoryId).then(limitsOf);
}

function areNumbers<M>(settings: WindowSettings<M>): settings is WindowSettings<M> & Numbers {
  const { maxMessages, maxTokens, reserve } = settings;
  return (
    typeof maxMessages !== "function" && typeof maxTokens !== "function" && typeof reserve !== "function"
  );
}

async function askedFor<M>(settings: WindowSettings<M>, memoryId: string): Promise<Numbers> {
  const ask = async (name: "maxMessages" | "maxTokens" | "reserve", least: 0 | 1) => {
    const limit = settings[name];
    return typeof limit === "function" ? checkAnswer(`window.${name}`, await limit(memoryId), least) : limit;
  };
  const maxMessages = await ask("maxMessages", 1);
  const maxTokens = await ask("maxTokens", 1);
  return { maxMessages, maxTokens, reserve: (await ask("reserve", 0)) ?? 0 };
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
