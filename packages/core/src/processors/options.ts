import { TurnkeepError } from "../errors.ts";
import type { MessageFormat } from "../message-format.ts";
import type { ProcessorContext } from "./processor.ts";

/** A processor for messages of every format. */
export interface AnyProcessor {
  readonly name: string;
  readonly eachAlone?: boolean | undefined;
  readonly limitsView?: boolean | undefined;
  process<M>(messages: readonly M[], context: ProcessorContext<M>): readonly M[];
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
