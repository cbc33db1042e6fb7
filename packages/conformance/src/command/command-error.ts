/** The kit could not run: its message is all that the user needs to see. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** What somebody else's code threw, as they would look for it: with its stack and its causes. */
export function traced(error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}, which is no Error`;
  const own = error.stack?.includes(error.message) ? error.stack : `${error.name}: ${error.message}`;
  return error.cause instanceof Error ? `${own}\ncaused by ${traced(error.cause)}` : own;
}
