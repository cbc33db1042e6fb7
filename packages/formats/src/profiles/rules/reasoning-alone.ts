import type { MessageFormat, Piece } from "@turnkeep/core";
import { optional } from "@turnkeep/core/store-kit";
import { withoutOrphanApprovals } from "../about.ts";
import { pattern } from "../fields.ts";
import { type Finding, type Rule, type RuleKind, where } from "../rule.ts";

/**
 * No message of the model consists of reasoning alone, or ends in it. With `bound`, where an answer comes in parts: a part
 * that is reasoning and whose id matches needs the part behind it as the provider made it, which it tells by its id.
 */
export type ReasoningAlone = Rule<"reasoning-alone", { readonly bound?: RegExp | undefined }>;

const alone = "the message is reasoning and nothing else";

/**
 * Reasoning alone begins the answer behind it or goes, and so does reasoning that ends an answer. Where an answer comes in
 * parts, reasoning goes with the part after it; at the answer's end it belongs to none.
 */
export const reasoningAlone: RuleKind<ReasoningAlone> = {
  fields: { bound: optional(pattern) },
  leavesOut: true,
  repair(messages, format, rule) {
    if (format.answersInParts !== true) return withoutReasoningAlone(messages, format);
    const isLast = lastOfParts(messages, format, rule);
    return messages.filter((_, index) => isLast[index] !== true);
  },
  breaks(messages, format, rule) {
    if (format.answersInParts !== true) return findingsInAnswers(messages, format);
    const isLast = lastOfParts(messages, format, rule);
    return where(messages, (_, index) => isLast[index] === true, alone);
  },
};

/** Of each message whether it is reasoning alone behind which its answer does not go on, or not as it was. */
function lastOfParts<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { bound }: ReasoningAlone,
): readonly boolean[] {
  let next: M | undefined;
  const isFollowed = (message: M): boolean => {
    if (next === undefined || format.role(next) !== "assistant") return false;
    return idOf(next) !== undefined || bound?.test(idOf(message) ?? "") !== true;
  };
  return messages
    .toReversed()
    .map((message) => {
      if (isReasoningAlone(message, format)) return !isFollowed(message);
      next = message;
      return false;
    })
    .reverse();
}

/** The id that the provider gave a part of an answer. */
function idOf(message: unknown): string | undefined {
  const { id } = message as { readonly id?: unknown };
  return typeof id === "string" ? id : undefined;
}

function findingsInAnswers<M>(messages: readonly M[], format: MessageFormat<M>): Finding[] {
  const answered = answeredRequests(messages, format);
  return messages.flatMap((message, index): Finding[] => {
    if (isReasoningAlone(message, format, answered)) return [[index, alone]];
    return endsInReasoning(message, format) ? [[index, "the message ends in reasoning"]] : [];
  });
}

function withoutReasoningAlone<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  const answered = answeredRequests(messages, format);
  const left = withReasoningJoined(messages, format).flatMap((message) => {
    if (!isReasoningAlone(message, format, answered) && !endsInReasoning(message, format)) return [message];
    return format.without(message, { reasoning: true }) ?? [];
  });
  return withoutOrphanApprovals(left, format);
}

/**
 * Reasoning that was stored apart from the answer directly after it becomes its beginning again. Elsewhere it was
 * broken off before the model was asked again; an answer with reasoning of its own was made without it.
 */
function withReasoningJoined<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  const isAssistant = (message: M | undefined): boolean =>
    message !== undefined && format.role(message) === "assistant";
  const together: M[] = [];
  for (const [index, message] of messages.entries()) {
    const previous = together.at(-1);
    const isRest =
      previous !== undefined &&
      isReasoningAlone(previous, format) &&
      !isAssistant(messages[index - 2]) &&
      isAssistant(message) &&
      !format.hasReasoning(message);
    const one = isRest ? format.joined?.(previous, message) : undefined;
    if (one === undefined) together.push(message);
    else together.splice(-1, 1, one);
  }
  return together;
}

/** Whether the model broke off while it reasoned again. An empty text is not sent. */
function endsInReasoning<M>(message: M, format: MessageFormat<M>): boolean {
  const isSent = (piece: Piece): boolean =>
    piece.type !== "text" || piece.of !== "content" || piece.text !== "";
  return format.pieces(message).findLast(isSent)?.of === "reasoning";
}

/** The requests for an approval that one of the messages answers. */
function answeredRequests<M>(messages: readonly M[], format: MessageFormat<M>): ReadonlySet<string> {
  const approvals = messages.flatMap((message) => format.approvals(message));
  return new Set(approvals.filter(({ kind }) => kind === "response").map(({ approvalId }) => approvalId));
}

/**
 * Reasoning and nothing else that a provider is sent: what it ran goes with its reasoning, but a result of that, or a
 * request for an approval that is among the `answered`, is what the reasoning led to.
 */
function isReasoningAlone<M>(
  message: M,
  format: MessageFormat<M>,
  answered: ReadonlySet<string> = new Set(),
): boolean {
  if (!format.hasReasoning(message) || format.toolResults(message).length > 0) return false;
  if (format.approvals(message).some(({ approvalId }) => answered.has(approvalId))) return false;
  return format.without(message, { reasoning: true }) === undefined;
}
