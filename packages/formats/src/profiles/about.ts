import type { MessageFormat, Piece, ToolCallRef } from "@turnkeep/core";
import { IdCounts } from "../reshape.ts";
import type { RuleNamed } from "./rules.ts";

/** Whether a message holds results of calls that another message makes. */
export function answersCalls<M>(message: M, format: MessageFormat<M>): boolean {
  return format.role(message) !== "assistant" && format.toolResults(message).length > 0;
}

/** Whether a provider has been sent results last before the message with that index: approvals alone are not sent. */
export function standsBehindResults<M>(
  messages: readonly M[],
  index: number,
  format: MessageFormat<M>,
): boolean {
  for (let before = index - 1; before >= 0; before--) {
    const message = messages[before] as M;
    if (answersCalls(message, format) || endsInResults(message, format)) return true;
    if (format.role(message) !== "tool") return false;
  }
  return false;
}

/** Whether an answer that holds its calls with their results broke off behind the last of them. */
function endsInResults<M>(message: M, format: MessageFormat<M>): boolean {
  if (format.pieces(message).at(-1)?.of !== "tool-result") return false;
  const last = format.toolResults(message).at(-1)?.id;
  return format
    .toolCalls(message)
    .some(({ id, providerExecuted }) => id === last && providerExecuted !== true);
}

export function isSystem<M>(message: M, format: MessageFormat<M>): boolean {
  return format.role(message) === "system";
}

/**
 * Whether the model has said all it had to say. A message with an open call waits for its result; one that ends in a
 * result that it holds waits for what the model makes of it. Of calls that the provider runs itself that is so only where
 * it goes on with a `paused` answer.
 */
export function isAnswer<M>(
  message: M,
  format: MessageFormat<M>,
  { paused }: RuleNamed<"last-message">,
): boolean {
  if (format.role(message) !== "assistant" || format.isBoundary(message)) return false;
  const answers = new IdCounts(format.toolResults(message).map(({ id }) => id));
  const calls = format.toolCalls(message);
  const waits = (call: ToolCallRef): boolean => paused === true || call.providerExecuted !== true;
  if (calls.some((call) => !answers.take(call.id) && waits(call))) return false;
  const last = format.pieces(message).at(-1)?.of;
  if (last !== "tool-result") return true;
  const lastCall = calls.at(-1);
  return lastCall === undefined ? paused !== true : !waits(lastCall);
}

/** Whether the first message that was said, at that index, cannot stand first. */
export function mayNotBeFirst<M>(
  message: M,
  index: number,
  format: MessageFormat<M>,
  { which }: RuleNamed<"first-message">,
): boolean {
  // Nothing stands before a provider's own compaction.
  if (format.role(message) === "user" || format.isBoundary(message)) return false;
  return which !== "calls" || (index === 0 && format.toolCalls(message).length > 0);
}

/** Whether the model broke off while it reasoned again. An empty text is not sent. */
export function endsInReasoning<M>(message: M, format: MessageFormat<M>): boolean {
  const isSent = (piece: Piece): boolean =>
    piece.type !== "text" || piece.of !== "content" || piece.text !== "";
  return format.pieces(message).findLast(isSent)?.of === "reasoning";
}

/** The requests for an approval that one of the messages answers. */
export function answeredRequests<M>(messages: readonly M[], format: MessageFormat<M>): ReadonlySet<string> {
  const approvals = messages.flatMap((message) => format.approvals(message));
  return new Set(approvals.filter(({ kind }) => kind === "response").map(({ approvalId }) => approvalId));
}

/**
 * Reasoning and nothing else that a provider is sent: what it ran goes with its reasoning, but a result of that, or a
 * request for an approval that is among the `answered`, is what the reasoning led to.
 */
export function isReasoningAlone<M>(
  message: M,
  format: MessageFormat<M>,
  answered: ReadonlySet<string> = new Set(),
): boolean {
  if (!format.hasReasoning(message) || format.toolResults(message).length > 0) return false;
  if (format.approvals(message).some(({ approvalId }) => answered.has(approvalId))) return false;
  return format.without(message, { reasoning: true }) === undefined;
}

/** What a user sends beside text. */
export function mediaOf<M>(message: M, format: MessageFormat<M>, kind: "image" | "document"): number {
  return format.pieces(message).filter((piece) => {
    if (piece.type !== "media" || piece.of !== "content") return false;
    const type = piece.mediaType ?? "image";
    return kind === "image" ? type.startsWith("image") : !/^(image|audio|video)/.test(type);
  }).length;
}

/** Whether an answer holds files that the model made. */
export function hasAnswerFiles<M>(message: M, format: MessageFormat<M>): boolean {
  if (format.role(message) !== "assistant" || format.isBoundary(message)) return false;
  if (!format.pieces(message).some((piece) => piece.type === "media" && piece.of !== "tool-result"))
    return false;
  return format.withoutAnswerFiles === undefined || format.withoutAnswerFiles(message) !== message;
}

export function hasText<M>(message: M, format: MessageFormat<M>): boolean {
  return format
    .pieces(message)
    .some((piece) => piece.type === "text" && piece.of === "content" && piece.text.trim() !== "");
}

/** Whether a text is one that the rule `empty-text` refuses. */
export function isEmptyText(text: string, which: "empty" | "blank"): boolean {
  return (which === "blank" ? text.trim() : text) === "";
}

/** Whether a message holds nothing that it says, not even an empty text; a name beside it says nothing. */
export function holdsNothing<M>(message: M, format: MessageFormat<M>): boolean {
  return format.isEmpty(message) && format.pieces(message).every(({ of }) => of === "name");
}
