import { type MessageFormat, type ShapedView, TurnkeepError, type ViewStage } from "@turnkeep/core";
import { joinNeighbours, orderToolResults } from "@turnkeep/core/processors";
import {
  answeredRequests,
  answersCalls,
  endsInReasoning,
  hasAnswerFiles,
  hasText,
  holdsNothing,
  isAnswer,
  isReasoningAlone,
  isSystem,
  mayNotBeFirst,
  mediaOf,
  standsBehindResults,
} from "./about.ts";
import { methodOf } from "./method-of.ts";
import { withCallIds } from "./rules/call-ids.ts";
import { withDocumentNames } from "./rules/document-names.ts";
import { holdsOneOf, refusedProviderCalls } from "./rules/provider-calls.ts";
import { withToolNames } from "./rules/tool-names.ts";
import { type ProviderRule, type RuleName, type RuleNamed, ruleOf } from "./rules.ts";

/** Opens a view that would start with the model's message, if the provider requires the user's. */
export const openingText = "Here is our conversation so far.";
/** Goes between two answers of the model, and after the last message if that is an answer. */
export const continueText = "Please continue.";
/** Stands in for an answer that never came, between tool results and the user's next message. */
export const noAnswerText = "(No answer was given.)";
/** Stands in for a user message without text. */
export const emptyText = "(An empty message.)";
/** Goes into a result that reports a failed tool and says nothing else. */
export const errorText = "The tool failed and said nothing.";
/** Goes beside a document that was sent without a text. */
export const attachedText = "(A file is attached.)";

type Change<M, N extends RuleName> = (
  messages: readonly M[],
  format: MessageFormat<M>,
  rule: RuleNamed<N>,
) => readonly M[];

/** The rules that may remove a whole message. */
const contentRules: ReadonlySet<RuleName> = new Set([
  "reasoning",
  "provider-calls",
  "answer-files",
  "empty-text",
  "reasoning-alone",
]);

/** Brings a list of messages, whose calls and results are in order, into the shape that the rules require. */
export function shape<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { name, rules }: { readonly name: string; readonly rules: readonly ProviderRule[] },
): ShapedView<M> {
  const stages: ViewStage<M>[] = [];
  let current = messages;
  const apply = <N extends RuleName>(rule: N, change: Change<M, N>): void => {
    const found = ruleOf(rules, rule);
    if (found === undefined) return;
    const next = change(current, format, found);
    if (next.length === current.length && next.every((message, index) => message === current[index])) return;
    stages.push({ name: rule, messages: next });
    current = next;
  };
  apply("system-first", systemFirst);
  apply("reasoning", (list, _, rule) => (rule.kept === "none" ? withoutReasoning(list, format) : list));
  apply("provider-calls", withoutProviderCalls);
  apply("answer-files", withoutAnswerFiles);
  apply("empty-text", withoutEmptyText);
  apply("error-text", (list) => list.map((message) => format.withErrorText?.(message, errorText) ?? message));
  apply("reasoning-alone", withoutReasoningAlone);
  apply("document-with-text", documentsWithText);
  apply("document-names", withDocumentNames);
  const leavesOut = (message: M): boolean => {
    const content = rules.filter(({ rule }) => contentRules.has(rule));
    return shape([message], format, { name, rules: content }).messages.length === 0;
  };
  apply("first-message", (list, _, rule) => opened(list, messages, format, rule, leavesOut));
  apply("answer-after-results", answered);
  apply("last-message", continued);
  // Before messages are joined: calls of one message are told apart by their ids.
  apply("call-ids", withCallIds);
  apply("tool-names", withToolNames);
  apply("results-in-order", (list) => orderToolResults(list, { format }));
  apply("same-role", joined);
  apply("results-first", (list) => list.map((message) => format.resultsFirst?.(message) ?? message));
  checkLimits(current, format, name, rules);
  return { messages: [...current], stages };
}

function systemFirst<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  const systems = messages.filter((message) => isSystem(message, format));
  return [...systems, ...messages.filter((message) => !isSystem(message, format))];
}

function withoutReasoning<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  const left = messages.flatMap((message) => {
    // A part of an answer may be bound to the reasoning in another one.
    const isPart = format.answersInParts === true && format.role(message) === "assistant";
    if (!isPart && !format.hasReasoning(message)) return [message];
    return format.without(message, { reasoning: true }) ?? [];
  });
  return withoutOrphanApprovals(left, format);
}

/** The calls that a provider ran itself, and its results: what the model made of them stays. */
function withoutProviderCalls<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  rule: RuleNamed<"provider-calls">,
): readonly M[] {
  const refused = refusedProviderCalls(messages, format, rule);
  if (refused.size === 0) return messages;
  const isLeftOut = (id: string): boolean => refused.has(id);
  const left = messages.flatMap((message) => {
    if (!holdsOneOf(message, refused, format)) return [message];
    return format.without(message, { toolCalls: isLeftOut, toolResults: isLeftOut }) ?? [];
  });
  return withoutOrphanApprovals(left, format);
}

/** Who sends the list looks for the request of each response to one. */
function withoutOrphanApprovals<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
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

function withoutAnswerFiles<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  return messages.flatMap((message) => {
    if (!hasAnswerFiles(message, format)) return [message];
    const rest = format.withoutAnswerFiles
      ? format.withoutAnswerFiles(message)
      : format.without(message, { media: true });
    return rest ?? [];
  });
}

function withoutEmptyText<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { which, signed }: RuleNamed<"empty-text">,
): readonly M[] {
  return messages.flatMap((message) => {
    if (format.role(message) === "tool" || format.isBoundary(message)) return [message];
    const rest = methodOf(format, "withoutEmptyText")(message, which, signed);
    if (rest !== undefined && !holdsNothing(rest, format)) return [rest];
    // The model's answer to an empty message stays an answer to something.
    return format.role(message) === "user" ? [methodOf(format, "textMessage")("user", emptyText)] : [];
  });
}

/** Where an answer comes in parts, reasoning goes with the part after it; at the answer's end it belongs to none. */
function withoutReasoningAlone<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  if (format.answersInParts !== true) {
    const answered = answeredRequests(messages, format);
    const isLeftOut = (message: M): boolean =>
      isReasoningAlone(message, format, answered) || endsInReasoning(message, format);
    const left = withReasoningJoined(messages, format).flatMap((message) =>
      isLeftOut(message) ? (format.without(message, { reasoning: true }) ?? []) : [message],
    );
    return withoutOrphanApprovals(left, format);
  }
  let isFollowed = false;
  return messages
    .toReversed()
    .flatMap((message) => {
      const isAlone = isReasoningAlone(message, format);
      if (isAlone && !isFollowed) return [];
      isFollowed = format.role(message) === "assistant";
      return [message];
    })
    .reverse();
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
    const before = together.at(-1);
    const isRest =
      before !== undefined &&
      isReasoningAlone(before, format) &&
      !isAssistant(messages[index - 2]) &&
      isAssistant(message) &&
      !format.hasReasoning(message);
    const one = isRest ? format.joined?.(before, message) : undefined;
    if (one === undefined) together.push(message);
    else together.splice(-1, 1, one);
  }
  return together;
}

function documentsWithText<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  return messages.map((message) => {
    if (format.role(message) !== "user" || hasText(message, format)) return message;
    if (mediaOf(message, format, "document") === 0) return message;
    const text = methodOf(format, "textMessage")("user", attachedText);
    return methodOf(format, "joined")(message, text) ?? message;
  });
}

/** A view that was opened because nothing of it was left stays opened when the model's answer stands there. */
function opened<M>(
  messages: readonly M[],
  before: readonly M[],
  format: MessageFormat<M>,
  rule: RuleNamed<"first-message">,
  leavesOut: (message: M) => boolean,
): readonly M[] {
  const isSaid = (message: M): boolean => !isSystem(message, format);
  const first = before.find(isSaid);
  // Nothing was said.
  if (first === undefined) return messages;
  const found = messages.findIndex(isSaid);
  const begins = messages[found];
  if (begins !== undefined && !mayNotBeFirst(begins, found, format, rule)) {
    const isOther = format.role(begins) === "user" || format.isBoundary(begins);
    if (isOther || !leavesOut(first)) return messages;
  }
  const index = begins === undefined ? messages.length : found;
  return messages.toSpliced(index, 0, methodOf(format, "textMessage")("user", openingText));
}

function answered<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  return messages.flatMap((message, index) => {
    const isUser = format.role(message) === "user" && !answersCalls(message, format);
    if (!isUser || !standsBehindResults(messages, index, format)) return [message];
    return [methodOf(format, "textMessage")("assistant", noAnswerText), message];
  });
}

/** The model is asked to go on in the same words now and when its next answer stands there: the beginning stays. */
function continued<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  rule: RuleNamed<"last-message">,
): readonly M[] {
  return messages.flatMap((message, index) => {
    const next = messages[index + 1];
    if (!isAnswer(message, format, rule)) return [message];
    if (next !== undefined && (format.role(next) !== "assistant" || format.answersInParts === true)) {
      return [message];
    }
    return [message, methodOf(format, "textMessage")("user", continueText)];
  });
}

/** Whether the rule wants the two as one message, if the format can join them. */
export function belongTogether<M>(
  first: M,
  second: M,
  format: MessageFormat<M>,
  rule: RuleNamed<"same-role">,
): boolean {
  if (format.answersInParts === true) return false;
  if ([first, second].some((message) => isSystem(message, format) || format.isBoundary(message)))
    return false;
  const [role, next] = [format.role(first), format.role(second)];
  if (role === next && rule.roles.includes(role)) return true;
  const answers = answersCalls(first, format);
  if (answers && answersCalls(second, format)) return rule.roles.includes("tool");
  return rule.besideResults === true && answers && next === "user";
}

function joined<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  rule: RuleNamed<"same-role">,
): readonly M[] {
  const mayJoin = (first: M, second: M): boolean => belongTogether(first, second, format, rule);
  // A format without the method is refused only where two messages belong together.
  const join = (first: M, second: M): M | undefined => methodOf(format, "joined")(first, second);
  return joinNeighbours(messages, { format: { joined: join }, mayJoin });
}

/** What is too much and cannot be left out. Errors: `WINDOW_OVERFLOW`. */
function checkLimits<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  name: string,
  rules: readonly ProviderRule[],
): void {
  for (const { rule, needed, limit } of excesses(messages, format, rules)) {
    throw new TurnkeepError(
      "WINDOW_OVERFLOW",
      `${name} takes at most ${limit} ${counted[rule]}; the view has ${needed}. ${remedies[rule]}`,
      { details: { needed, limit } },
    );
  }
}

type LimitRule = "messages" | "calls" | "text-length" | "images" | "documents";

const counted: Readonly<Record<LimitRule, string>> = {
  messages: "messages in a request",
  calls: "tool calls in a message",
  "text-length": "UTF-16 units in a text",
  images: "images in a message",
  documents: "documents in a message",
};

const remedies: Readonly<Record<LimitRule, string>> = {
  messages: "Give the memory a window.",
  calls: "Remove the message, or take its calls apart.",
  "text-length": "Shorten it, by a processor for example.",
  images: "Leave some out, by a processor for example.",
  documents: "Leave some out, by a processor for example.",
};

/** What exceeds a rule's limit, and where. */
export function excesses<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  rules: readonly ProviderRule[],
): { readonly rule: LimitRule; readonly index: number; readonly needed: number; readonly limit: number }[] {
  const measures: Readonly<Record<Exclude<LimitRule, "messages">, (message: M) => number>> = {
    calls: (message) => format.toolCalls(message).length,
    "text-length": (message) =>
      format
        .pieces(message)
        .reduce((most, piece) => (piece.type === "text" ? Math.max(most, piece.text.length) : most), 0),
    images: (message) => mediaOf(message, format, "image"),
    documents: (message) => mediaOf(message, format, "document"),
  };
  return rules.flatMap((rule) => {
    if (!("limit" in rule)) return [];
    const { limit } = rule;
    const found = (index: number, needed: number): ReturnType<typeof excesses>[number][] =>
      needed > limit ? [{ rule: rule.rule, index, needed, limit }] : [];
    if (rule.rule === "messages") return found(limit, messages.length);
    const measure = measures[rule.rule];
    return messages.flatMap((message, index) => found(index, measure(message)));
  });
}
