import { type MessageFormat, type Piece, TurnkeepError } from "@turnkeep/core";
import { checkObject } from "@turnkeep/core/store-kit";
import { kindOf } from "../checks.ts";
import { append, IdCounts } from "../reshape.ts";
import {
  answeredRequests,
  answersCalls,
  endsInReasoning,
  hasAnswerFiles,
  hasText,
  holdsNothing,
  isAnswer,
  isEmptyText,
  isReasoningAlone,
  isSystem,
  mayNotBeFirst,
  mediaOf,
  standsBehindResults,
} from "./about.ts";
import type { ProfileRules } from "./profile-of.ts";
import { withDocumentNames } from "./rules/document-names.ts";
import { callsOfProvider, holdsOneOf, refusedProviderCalls } from "./rules/provider-calls.ts";
import type { ProviderRule, RuleName, RuleNamed } from "./rules.ts";
import { belongTogether, errorText, excesses } from "./shape.ts";

/** What breaks a rule, and where. */
export interface Violation {
  readonly rule: RuleName;
  /** The index of the message; for an empty list, 0. */
  readonly index: number;
  /** What is wrong there, without the message's content. */
  readonly problem: string;
  /** Where the rule is documented. */
  readonly source: string;
}

/**
 * What a provider would refuse in a list of messages, in the order of the rules; empty for a list that it accepts. The
 * rule `bound`, on how reasoning came about, cannot be checked in a list; only the memory can apply it.
 *
 * Errors: `INVALID_OPTION`; `INVALID_MESSAGE` for what is not a message of the format.
 *
 * @example
 * ```ts
 * import { assistant, modelMessageFormat, user } from "@turnkeep/core";
 * import { anthropic, validate } from "@turnkeep/formats/profiles";
 *
 * const messages = [user("Hello"), assistant("Good morning.")];
 * const [violation] = validate(messages, anthropic, { format: modelMessageFormat });
 * console.log(violation?.rule, violation?.index); // "last-message" 1
 * ```
 */
export function validate<M>(
  messages: readonly M[],
  profile: ProfileRules,
  options: {
    /** How to read the messages: `modelMessageFormat` for those of the AI SDK. */
    readonly format: MessageFormat<M>;
  },
): Violation[] {
  if (!Array.isArray(messages)) {
    throw new TurnkeepError("INVALID_OPTION", `validate takes a list of messages, not ${kindOf(messages)}.`);
  }
  if (!Array.isArray(profile?.rules)) {
    throw new TurnkeepError(
      "INVALID_OPTION",
      `validate takes a profile, such as openai, not ${kindOf(profile)}.`,
    );
  }
  const format: MessageFormat<M> | undefined = options?.format;
  if (typeof format?.encode !== "function") {
    throw new TurnkeepError(
      "INVALID_OPTION",
      "validate needs the messages' format, such as { format: modelMessageFormat }.",
    );
  }
  checkObject("validate's third argument", options, ["format"]);
  for (const message of messages) format.encode(message);
  return profile.rules.flatMap((rule) =>
    check(messages, format, rule).map(([index, problem]) => ({
      rule: rule.rule,
      index,
      problem,
      source: rule.source,
    })),
  );
}

type Finding = readonly [index: number, problem: string];

function check<M>(messages: readonly M[], format: MessageFormat<M>, rule: ProviderRule): readonly Finding[] {
  const where = (isWrong: (message: M, index: number) => boolean, problem: string): Finding[] =>
    messages.flatMap((message, index) => (isWrong(message, index) ? [[index, problem] as const] : []));
  const first = messages.findIndex((message) => !isSystem(message, format));
  switch (rule.rule) {
    case "not-empty":
      return first < 0 ? [[0, "there is no message beside the system message"]] : [];
    case "tool-results":
      return format.answersInParts === true
        ? unpairedParts(messages, format)
        : unpaired(messages, format, rule.joins === true);
    case "provider-calls": {
      const refused = refusedProviderCalls(messages, format, rule);
      return where(
        (message) => holdsOneOf(message, refused, format),
        "a call that another provider ran, or half of one that this provider runs, stands here",
      );
    }
    case "results-first":
      return where(
        (message) => (format.resultsFirst?.(message) ?? message) !== message,
        "tool results stand behind what the user says",
      );
    case "results-in-order":
      return outOfOrder(messages, format).map((index) => [
        index,
        "a result stands behind that of a later call",
      ]);
    case "error-text":
      return where(
        (message) => (format.withErrorText?.(message, errorText) ?? message) !== message,
        "a result says that its tool failed, and no more",
      );
    case "system-first":
      return where(
        (message, index) => isSystem(message, format) && index > 0,
        "a system message stands here",
      );
    case "first-message":
      return where(
        (message, index) => index === first && mayNotBeFirst(message, index, format, rule),
        rule.which === "calls" ? "the first message makes calls" : "the first message is not the user's",
      );
    case "last-message":
      return where(
        (message, index) => index === messages.length - 1 && isAnswer(message, format, rule),
        "the last message is an answer of the model",
      );
    case "answer-after-results":
      return where((message, index) => {
        const isUser = format.role(message) === "user" && !answersCalls(message, format);
        return isUser && standsBehindResults(messages, index, format);
      }, "the user's message stands right behind tool results");
    case "reasoning-alone": {
      const requests = answeredRequests(messages, format);
      const isPartOfMore = partsOfMore(messages, format);
      return messages.flatMap((message, index): Finding[] => {
        if (isReasoningAlone(message, format, requests)) {
          if (isPartOfMore[index] === true) return [];
          return [[index, "the message is reasoning and nothing else"]];
        }
        const isCutOff = format.answersInParts !== true && endsInReasoning(message, format);
        return isCutOff ? [[index, "the message ends in reasoning"]] : [];
      });
    }
    case "answer-files":
      return where(
        (message) => hasAnswerFiles(message, format),
        "an answer holds a file that the model made",
      );
    case "document-with-text":
      return where(
        (message) =>
          format.role(message) === "user" &&
          mediaOf(message, format, "document") > 0 &&
          !hasText(message, format),
        "a document stands without a text",
      );
    case "document-names": {
      const named = withDocumentNames(messages, format);
      return where(
        (message, index) => named[index] !== message,
        "a document has the name of another one before it",
      );
    }
    case "same-role":
      return where((message, index) => {
        const before = messages[index - 1];
        if (before === undefined || !belongTogether(before, message, format, rule)) return false;
        return format.joined?.(before, message) !== undefined;
      }, "the message could be one with the message before it");
    case "empty-text":
      return where((message) => {
        if (format.role(message) === "tool" || format.isBoundary(message)) return false;
        if (holdsNothing(message, format)) return true;
        const isRefused = (piece: Piece): boolean =>
          piece.type === "text" && piece.of === "content" && isEmptyText(piece.text, rule.which);
        const isSigned = (): boolean =>
          rule.signed === true && format.withoutEmptyText?.(message, rule.which, true) === message;
        return format.pieces(message).some(isRefused) && !isSigned();
      }, `a text is ${rule.which}`);
    case "call-ids":
      return [...wrongIds(messages, format, rule)];
    case "tool-names":
      return [...wrongNames(messages, format, rule)];
    case "reasoning":
      return rule.kept === "none"
        ? where((message) => format.hasReasoning(message), "the message holds reasoning")
        : [];
    default:
      return excesses(messages, format, [rule]).map(
        ({ index, needed, limit }) => [index, `${needed} where ${limit} may be`] as const,
      );
  }
}

/** Of each message whether what follows it, reasoning alone apart, goes on with an answer that comes in parts. */
function partsOfMore<M>(messages: readonly M[], format: MessageFormat<M>): readonly boolean[] {
  if (format.answersInParts !== true) return [];
  let isFollowed = false;
  return messages
    .toReversed()
    .map((message) => {
      const isPart = isFollowed;
      if (!isReasoningAlone(message, format)) isFollowed = format.role(message) === "assistant";
      return isPart;
    })
    .reverse();
}

/**
 * Calls without a result right behind them, and results without such a call. If the provider `joins` answers directly
 * after one another, the calls of all of them wait for the results behind the last.
 */
function unpaired<M>(messages: readonly M[], format: MessageFormat<M>, joins: boolean): Finding[] {
  const findings: Finding[] = [];
  const providers = callsOfProvider(messages, format);
  let asked = -1;
  let open = new IdCounts();
  let isAnswer = false;
  const close = (): void => {
    for (const _ of open.left()) findings.push([asked, "a call has no result right behind it"]);
    open = new IdCounts();
  };
  for (const [index, message] of messages.entries()) {
    const wasAnswer = isAnswer;
    isAnswer = format.role(message) === "assistant";
    const calls = format.toolCalls(message).filter((call) => call.providerExecuted !== true);
    const own = new Set(format.toolCalls(message).map(({ id }) => id));
    const foreign = format.toolResults(message).filter(({ id }) => !own.has(id) && !providers.has(id));
    const approves = format.role(message) === "tool" && format.approvals(message).length > 0;
    const isAnswering = foreign.length > 0 || approves;
    const goesOn = joins && wasAnswer && isAnswer;
    if (!isAnswering && !goesOn) close();
    for (const { id } of foreign) {
      if (!open.take(id)) findings.push([index, "a result has no call right before it"]);
    }
    if (isAnswering && calls.length > 0) close();
    if (calls.length === 0) continue;
    asked = index;
    const answeredHere = new IdCounts(format.toolResults(message).map(({ id }) => id));
    const waiting = calls.map(({ id }) => id).filter((id) => !answeredHere.take(id));
    open = new IdCounts([...(goesOn ? open.left() : []), ...waiting]);
  }
  const approved = new Set(approvedAtEnd(messages, format));
  open = new IdCounts([...open.left()].filter((id) => !approved.has(id)));
  close();
  return findings;
}

/** Where an answer comes in parts, a result may stand anywhere behind its call. */
function unpairedParts<M>(messages: readonly M[], format: MessageFormat<M>): Finding[] {
  const findings: Finding[] = [];
  const providers = callsOfProvider(messages, format);
  const open = new Map<string, number[]>();
  for (const [index, message] of messages.entries()) {
    for (const { id, providerExecuted } of format.toolCalls(message)) {
      if (providerExecuted !== true) append(open, id, index);
    }
    const own = format.role(message) === "assistant";
    for (const { id } of format.toolResults(message)) {
      const isAnswer = open.get(id)?.shift() !== undefined;
      if (!isAnswer && !own && !providers.has(id)) findings.push([index, "a result has no call before it"]);
    }
  }
  for (const index of [...open.values()].flat()) findings.push([index, "a call has no result"]);
  return findings;
}

/** The messages with results that stand behind the result of a later call of the same answer. */
function outOfOrder<M>(messages: readonly M[], format: MessageFormat<M>): number[] {
  let places = new Map<string, number[]>();
  let count = 0;
  let furthest = -1;
  return messages.flatMap((message, index) => {
    if (format.role(message) !== "tool") {
      const saidBeside = format.role(message) === "user" && format.toolResults(message).length > 0;
      if (furthest >= 0 || saidBeside) places = new Map();
      furthest = -1;
      for (const { id } of format.toolCalls(message)) append(places, id, count++);
      return [];
    }
    const before = furthest;
    let isBehind = false;
    for (const { id } of format.toolResults(message)) {
      const place = places.get(id)?.shift() ?? before;
      isBehind ||= place < furthest;
      furthest = Math.max(furthest, place);
    }
    return isBehind ? [index] : [];
  });
}

/** The calls that the last message approves: whoever sends the list runs them first. */
function approvedAtEnd<M>(messages: readonly M[], format: MessageFormat<M>): readonly string[] {
  const last = messages.at(-1);
  if (last === undefined) return [];
  const calls = new Map<string, string>();
  for (const message of messages) {
    for (const approval of format.approvals(message)) {
      if (approval.kind === "request") calls.set(approval.approvalId, approval.toolCallId);
    }
  }
  return format
    .approvals(last)
    .flatMap((approval) => (approval.kind === "response" ? (calls.get(approval.approvalId) ?? []) : []));
}

function* wrongIds<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { pattern, unique }: RuleNamed<"call-ids">,
): Generator<Finding, undefined> {
  const made = new Set<string>();
  const providers = callsOfProvider(messages, format);
  for (const [index, message] of messages.entries()) {
    for (const { id, providerExecuted } of format.toolCalls(message)) {
      if (providerExecuted === true) continue;
      if (!pattern.test(id)) yield [index, "a call's id has not the form that the provider takes"];
      if (unique && made.has(id)) yield [index, "a call bears the id of an earlier one"];
      made.add(id);
    }
    for (const { id } of format.toolResults(message)) {
      const isWrong = !pattern.test(id) && !providers.has(id);
      if (isWrong) yield [index, "a result's id has not the form that the provider takes"];
    }
  }
}

function* wrongNames<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { pattern }: RuleNamed<"tool-names">,
): Generator<Finding, undefined> {
  const providers = callsOfProvider(messages, format);
  const made = new Set<string>();
  for (const [index, message] of messages.entries()) {
    for (const { id, name, providerExecuted } of format.toolCalls(message)) {
      if (providerExecuted === true) continue;
      made.add(id);
      if (!pattern.test(name)) yield [index, "a call's tool has a name that the provider refuses"];
    }
    const answers = format.role(message) !== "assistant";
    for (const { id, name } of format.toolResults(message)) {
      const isWrong = name !== undefined && !pattern.test(name) && !providers.has(id);
      if (isWrong && (answers || made.has(id)))
        yield [index, "a result's tool has a name that the provider refuses"];
    }
  }
}
