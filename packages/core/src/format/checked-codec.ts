import { isTurnkeepError, TurnkeepError } from "../errors.ts";
import type { MessageFormat } from "../message-format.ts";
import { quoted } from "../stores/text.ts";
import { decodePayload, encodePayload } from "./codec.ts";

/**
 * `encode` and `decode` of a format. `check` throws `INVALID_MESSAGE` for what the format cannot work with. It is
 * called in both directions, so that a record that somebody else changed does not reach the other methods.
 */
export function checkedCodec<M>(
  name: string,
  version: number,
  check: (message: unknown) => void,
): Pick<MessageFormat<M>, "encode" | "decode"> {
  return {
    encode(message) {
      const text = encodePayload(name, version, message);
      check(message);
      return text;
    },
    decode(text) {
      const message = decodePayload(text, name, version);
      try {
        check(message);
      } catch (cause) {
        if (!isTurnkeepError(cause, "INVALID_MESSAGE")) throw cause;
        const problem = `Its payload is no message of the format ${quoted(name)}.`;
        throw new TurnkeepError(
          "CORRUPT_RECORD",
          `${problem} ${cause.message} Restore the record, or remove it.`,
        );
      }
      return message as M;
    },
  };
}

/** Refuses a message. `what` continues "The message …" and never repeats content; `help` is a sentence. */
export function invalidMessage(what: string, help: string): TurnkeepError {
  return new TurnkeepError("INVALID_MESSAGE", `The message ${what}. ${help}`);
}
