import { type MessageFormat, TurnkeepError } from "@turnkeep/core";
import { quoted } from "@turnkeep/core/store-kit";

type Method = (...args: never) => unknown;

/** The names of the methods that a format may lack. */
type OptionalMethod = {
  [N in keyof MessageFormat<unknown>]-?: undefined extends MessageFormat<unknown>[N]
    ? NonNullable<MessageFormat<unknown>[N]> extends Method
      ? N
      : never
    : never;
}[keyof MessageFormat<unknown>];

/** A format's method that not every format has. Errors: `UNSUPPORTED`. */
export function methodOf<M, N extends OptionalMethod>(
  format: MessageFormat<M>,
  name: N,
): NonNullable<MessageFormat<M>[N]> {
  const method = format[name];
  if (method === undefined) {
    throw new TurnkeepError(
      "UNSUPPORTED",
      `The format ${quoted(format.name)} has no ${name}, which this provider's profile needs. ` +
        "Add it to the format, or leave the profile out.",
    );
  }
  return method.bind(format) as NonNullable<MessageFormat<M>[N]>;
}
