import { type MessageFormat, TurnkeepError } from "@turnkeep/core";
import { quoted } from "@turnkeep/core/store-kit";

type Optional = "textMessage" | "renameCalls" | "renameTools" | "joined" | "withoutEmptyText";

/** A format's method that not every format has. Errors: `UNSUPPORTED`. */
export function methodOf<M, K extends Optional>(
  format: MessageFormat<M>,
  name: K,
): NonNullable<MessageFormat<M>[K]> {
  const method = format[name];
  if (method === undefined) {
    throw new TurnkeepError(
      "UNSUPPORTED",
      `The format ${quoted(format.name)} has no ${name}, which this provider's profile needs. ` +
        "Add it to the format, or leave the profile out.",
    );
  }
  return method.bind(format) as NonNullable<MessageFormat<M>[K]>;
}
