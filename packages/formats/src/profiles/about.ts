import type { MessageFormat } from "@turnkeep/core";

export function isSystem<M>(message: M, format: MessageFormat<M>): boolean {
  return format.role(message) === "system";
}

/** Whether a message sets what holds from there on, whatever it says beside it. */
export function setsSomething<M>(message: M, format: MessageFormat<M>): boolean {
  return (format.sets?.(message).length ?? 0) > 0;
}

/** Whether a message holds results of calls that another message makes. */
export function answersCalls<M>(message: M, format: MessageFormat<M>): boolean {
  return format.role(message) !== "assistant" && format.toolResults(message).length > 0;
}

/** The calls that the provider runs itself: it answers them in whatever message it goes on with. */
export function callsOfProvider<M>(messages: readonly M[], format: MessageFormat<M>): ReadonlySet<string> {
  const calls = messages.flatMap((message) => format.toolCalls(message));
  return new Set(calls.filter((call) => call.providerExecuted === true).map(({ id }) => id));
}

/** What a user sends beside text. */
export function mediaOf<M>(message: M, format: MessageFormat<M>, kind: "image" | "document"): number {
  return format.pieces(message).filter((piece) => {
    if (piece.type !== "media" || piece.of !== "content") return false;
    const type = piece.mediaType ?? "image";
    return kind === "image" ? type.startsWith("image") : !/^(image|audio|video)/.test(type);
  }).length;
}

/** Who sends the list looks for the request of each response to one. */
export function withoutOrphanApprovals<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  const approvals = messages.flatMap((message) => format.approvals(message));
  if (!approvals.some(({ kind }) => kind === "response")) return messages;
  const requested = new Set(
    approvals.filter(({ kind }) => kind === "request").map(({ approvalId }) => approvalId),
  );
  return messages.flatMap((message) => {
    const isOrphan = format
      .approvals(message)
      .some(({ kind, approvalId }) => kind === "response" && !requested.has(approvalId));
    if (!isOrphan) return [message];
    return format.without(message, { approvals: (id) => !requested.has(id) }) ?? [];
  });
}
