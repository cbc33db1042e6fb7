import type { MessageFormat, ToolCallRef } from "@turnkeep/core";
import { CallsById, openCalls } from "@turnkeep/core/processors";
import { oneOf, optional } from "@turnkeep/core/store-kit";
import { callsOfProvider } from "../about.ts";
import { PairsByMessage } from "../pairs-by-message.ts";
import type { Finding, Rule, RuleKind } from "../rule.ts";

/**
 * Every call is answered once, directly after the message that makes it; no result stands without its call. With
 * `joins`, the provider takes answers directly after one another for one.
 */
export type ToolResults = Rule<"tool-results", { readonly joins?: boolean | undefined }>;

/** Core repairs this in every view, also in one without a profile. */
export const toolResults: RuleKind<ToolResults> = {
  fields: { joins: optional(oneOf(true, false)) },
  breaks: (messages, format, { joins }) =>
    format.answersInParts === true
      ? unpairedParts(messages, format)
      : unpaired(messages, format, joins === true),
};

/**
 * Calls without a result right behind them, and results without such a call. If the provider `joins` answers directly
 * after one another, the calls of all of them wait for the results behind the last.
 */
function unpaired<M>(messages: readonly M[], format: MessageFormat<M>, joins: boolean): Finding[] {
  const findings: Finding[] = [];
  const providers = callsOfProvider(messages, format);
  let mayWait: ReadonlySet<string> = new Set();
  let askedAt = -1;
  let unanswered = new CallsById<ToolCallRef>();
  let isAnswer = false;
  const close = (): void => {
    for (const { id } of unanswered.waiting())
      if (!mayWait.has(id)) findings.push([askedAt, "a call has no result right behind it"]);
    unanswered = new CallsById();
  };
  for (const [index, message] of messages.entries()) {
    const wasAnswer = isAnswer;
    isAnswer = format.role(message) === "assistant";
    const calls = format.toolCalls(message).filter((call) => call.providerExecuted !== true);
    const callsHere = new Set(format.toolCalls(message).map(({ id }) => id));
    const answers = format.toolResults(message).filter(({ id }) => !callsHere.has(id) && !providers.has(id));
    const approves = format.role(message) === "tool" && format.approvals(message).length > 0;
    const isAnswering = answers.length > 0 || approves;
    const goesOn = joins && wasAnswer && isAnswer;
    if (!isAnswering && !goesOn) close();
    for (const { id } of answers) {
      if (unanswered.take(id) === undefined) findings.push([index, "a result has no call right before it"]);
    }
    if (isAnswering && calls.length > 0) close();
    if (calls.length === 0) continue;
    askedAt = index;
    if (!goesOn) unanswered = new CallsById();
    for (const call of openCalls(calls, format.toolResults(message))) unanswered.ask(call.id, call);
  }
  mayWait = new Set(approvedAtEnd(messages, format));
  close();
  return findings;
}

/** Where an answer comes in parts, a result may stand anywhere behind its call. */
function unpairedParts<M>(messages: readonly M[], format: MessageFormat<M>): Finding[] {
  const findings: Finding[] = [];
  const providers = callsOfProvider(messages, format);
  const pairs = new PairsByMessage<M, number>(format);
  for (const [index, message] of messages.entries()) {
    const calls = format.toolCalls(message).filter((call) => call.providerExecuted !== true);
    const answered = pairs.enter(
      message,
      calls.map(({ id }) => [id, index]),
    );
    if (format.role(message) === "assistant") continue;
    for (const [at, { id }] of format.toolResults(message).entries()) {
      if (answered[at] !== undefined || providers.has(id)) continue;
      findings.push([index, "a result has no call before it"]);
    }
  }
  for (const index of [...pairs.waiting()].sort((a, b) => a - b))
    findings.push([index, "a call has no result"]);
  return findings;
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
