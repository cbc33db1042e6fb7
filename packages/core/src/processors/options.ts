import { TurnkeepError } from "../errors.ts";
import type { MessageFormat } from "../message-format.ts";
import type { TokenCounter } from "../window-options.ts";
import type { ProcessorContext } from "./processor.ts";

/** A processor for messages of every format. */
export interface AnyProcessor {
  readonly name: string;
  readonly eachAlone?: boolean | undefined;
  readonly limitsView?: boolean | undefined;
  process<M>(messages: readonly M[], context: ProcessorContext<M>): readonly M[];
}

export function invalid(name: string, value: unknown, expected: string): TurnkeepError {
  const shown =
    typeof value === "function" ? "a function" : typeof value === "object" ? typeOf(value) : String(value);
  return new TurnkeepError("INVALID_OPTION", `${name} must be ${expected}; it is ${shown}.`);
}

function typeOf(value: object | null): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : "an object";
}

export function checkObject(name: string, value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(name, value, "an object of options");
  }
}

export function checkInteger(name: string, value: unknown, least: 0 | 1): void {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return;
  throw invalid(name, value, `a ${least === 0 ? "non-negative" : "positive"} integer`);
}

export function checkCounter(name: string, counter: TokenCounter | undefined): void {
  if (typeof counter !== "object" || counter === null || typeof counter.count !== "function") {
    throw invalid(name, counter, "a TokenCounter");
  }
  if (counter.base !== undefined) checkInteger(`${name}.base`, counter.base, 0);
}

/** A method that not every format has. Errors: `UNSUPPORTED`. */
export function methodOf<M, Name extends "mapText">(
  format: MessageFormat<M>,
  method: Name,
  processor: string,
): NonNullable<MessageFormat<M>[Name]> {
  const own = format[method];
  if (own !== undefined) return own.bind(format) as NonNullable<MessageFormat<M>[Name]>;
  throw new TurnkeepError(
    "UNSUPPORTED",
    `The processor ${JSON.stringify(processor)} needs a format with ${method}; the format ${JSON.stringify(format.name)} ` +
      "has none. Add that method to the format, or leave the processor out.",
  );
}
