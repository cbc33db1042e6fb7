import { isTurnkeepError, type TurnkeepErrorCode } from "@turnkeep/core";

/** What a request gets instead of what it asked for: a status, and a sentence. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const goneOn = "The conversation has gone on. Load it again.";

export const notAsked: Refusal = new Refusal(409, "Only questions can be asked again.");

const conflict = new Refusal(409, goneOn);

/** The same for what is not there and what is somebody else's, who asks learns nothing of it. */
export const noSuchChat: Refusal = new Refusal(404, "No such chat.");

/** What a memory refuses that is not the server's own fault. */
const refusals: Partial<Record<TurnkeepErrorCode, Refusal>> = {
  NOT_FOUND: noSuchChat,
  OWNER_MISMATCH: noSuchChat,
  ID_CONFLICT: conflict,
  TURN_LOST: conflict,
  VERSION_CONFLICT: conflict,
};

/** The response to a request that failed: JSON `{ error }`. `undefined` for what is no matter of the browser's. */
export function responseTo(error: unknown): Response | undefined {
  const refusal = refusalOf(error);
  return refusal && Response.json({ error: refusal.message }, { status: refusal.status });
}

function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (!isTurnkeepError(error)) return undefined;
  if (
    error.code === "WINDOW_OVERFLOW" ||
    error.code === "MESSAGE_TOO_LARGE" ||
    error.code === "MEMORY_FULL"
  ) {
    const { needed = 0, limit = 0 } = error.details;
    // A window's limit may be one of tokens or messages, a provider's one of images.
    return new Refusal(413, tooLong(needed, limit, error.code === "WINDOW_OVERFLOW" ? undefined : "bytes"));
  }
  return refusals[error.code];
}

export function tooLong(needed: number, limit: number, unit: string | undefined): string {
  return `The message is too long by ${[needed - limit, unit].filter(Boolean).join(" ")}: ${limit} is the limit.`;
}
