import { quoted, TurnkeepError } from "../errors.ts";
import type { MessageFormat } from "../message-format.ts";

/** A format's `mapText`, which not every format has. Errors: `UNSUPPORTED`, naming the processor that needs it. */
export function mapTextOf<M>(
  format: MessageFormat<M>,
  processor: string,
): NonNullable<MessageFormat<M>["mapText"]> {
  if (format.mapText !== undefined) return format.mapText.bind(format);
  throw new TurnkeepError(
    "UNSUPPORTED",
    `The processor ${quoted(processor)} needs a format with mapText; the format ${quoted(format.name)} ` +
      "has none. Add that method to the format, or leave the processor out.",
  );
}
