import { isTurnkeepError, quoted, TurnkeepError } from "../errors.ts";
import type { MessageFormat } from "../message-format.ts";
import { decodePayload, type EncodedCopy, encodedCopy, encodePayload } from "./codec.ts";

type Codec<M> = Pick<MessageFormat<M>, "encode" | "decode">;

/** By their `encode`, the codecs made here, each with both in one. */
const made = new WeakMap<
  Codec<never>["encode"],
  { readonly decode: unknown; readonly copy: (message: unknown) => EncodedCopy<unknown> }
>();

/**
 * `encode` and `decode` of a format. `check` throws `INVALID_MESSAGE` for what the format cannot work with. It is
 * called in both directions, so that a record that somebody else changed does not reach the other methods.
 */
export function checkedCodec<M>(name: string, version: number, check: (message: unknown) => void): Codec<M> {
  const codec: Codec<M> = {
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
  const copy = (message: unknown): EncodedCopy<unknown> => {
    const copied = encodedCopy(name, version, message);
    check(copied.message);
    return copied;
  };
  made.set(codec.encode, { decode: codec.decode, copy });
  return codec;
}

/** A message as `encode` writes it, and as `decode` reads that; at once where both are of a codec made here. */
export function copyOf<M>(message: M, format: MessageFormat<M>): EncodedCopy<M> {
  const codec = made.get(format.encode);
  if (codec?.decode === format.decode) return codec.copy(message) as EncodedCopy<M>;
  const payload = format.encode(message);
  return { payload, message: format.decode(payload) };
}

/** Refuses a message. `what` continues "The message …" and never repeats content; `help` is a sentence. */
export function invalidMessage(what: string, help: string): TurnkeepError {
  return new TurnkeepError("INVALID_MESSAGE", `The message ${what}. ${help}`);
}
