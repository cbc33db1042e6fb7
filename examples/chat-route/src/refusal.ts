import { isTurnkeepError, type TurnkeepErrorCode } from "@turnkeep/core";

/** What a request gets instead of an answer: a status, and a sentence, which `useChat` has as `error.message`. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const goneOn = "The conversation has gone on. Load it again.";

const conflict = new Refusal(409, goneOn);
const noSuchChat = new Refusal(404, "No such chat.");

/** What the memory refuses that is not the route's own fault. Whoever asks for somebody else's chat learns nothing of it. */
const refusals: Partial<Record<TurnkeepErrorCode, Refusal>> = {
  NOT_FOUND: noSuchChat,
  OWNER_MISMATCH: noSuchChat,
  ID_CONFLICT: conflict,
  VERSION_CONFLICT: conflict,
};

/** The response to a request that failed. Throws what is no matter of the browser's. */
export function responseTo(error: unknown): Response {
  const { status, message } = refusalOf(error);
  return new Response(message, { status });
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!isTurnkeepError(error)) throw error;
  if (error.code === "WINDOW_OVERFLOW" || error.code === "MESSAGE_TOO_LARGE") {
    const { needed, limit } = error.details;
    return new Refusal(413, tooLong(needed, limit));
  }
  const refusal = refusals[error.code];
  if (refusal === undefined) throw error;
  return refusal;
}

export function tooLong(needed: number | undefined, limit: number | undefined): string {
  return `The message is too long: ${needed === undefined ? "" : `it needs ${needed}, and `}${limit} is the limit.`;
}
