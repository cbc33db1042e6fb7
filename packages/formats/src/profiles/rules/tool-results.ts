import type { MessageFormat } from "@turnkeep/core";
import { append, IdCounts } from "../../reshape.ts";
import { callsOfProvider } from "../about.ts";
import { optional, truth } from "../fields.ts";
import type { Finding, Rule, RuleKind } from "../rule.ts";

/**
 * Every call is answered once, directly after the message that makes it; no result stands without its call. With
 * `joins`, the provider takes answers directly after one another for one.
 */
export type ToolResults = Rule<"tool-results", { readonly joins?: boolean | undefined }>;

/** Core repairs this in every view, also in one without a profile. */
export const toolResults: RuleKind<ToolResults> = {
  fields: { joins: optional(truth) },
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
  let askedAt = -1;
  let unanswered = new IdCounts();
  let isAnswer = false;
  const close = (): void => {
    for (const _ of unanswered.left()) findings.push([askedAt, "a call has no result right behind it"]);
    unanswered = new IdCounts();
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
      if (!unanswered.take(id)) findings.push([index, "a result has no call right before it"]);
    }
    if (isAnswering && calls.length > 0) close();
    if (calls.length === 0) continue;
    askedAt = index;
    const answeredHere = new IdCounts(format.toolResults(message).map(({ id }) => id));
    const waiting = calls.map(({ id }) => id).filter((id) => !answeredHere.take(id));
    unanswered = new IdCounts([...(goesOn ? unanswered.left() : []), ...waiting]);
  }
  const approved = new Set(approvedAtEnd(messages, format));
  unanswered = new IdCounts([...unanswered.left()].filter((id) => !approved.has(id)));
  close();
  return findings;
}

/** Where an answer comes in parts, a result may stand anywhere behind its call. */
function unpairedParts<M>(messages: readonly M[], format: MessageFormat<M>): Finding[] {
  const findings: Finding[] = [];
  const providers = callsOfProvider(messages, format);
  const unanswered = new Map<string, number[]>();
  for (const [index, message] of messages.entries()) {
    for (const { id, providerExecuted } of format.toolCalls(message)) {
      if (providerExecuted !== true) append(unanswered, id, index);
    }
    const isAnswer = format.role(message) === "assistant";
    for (const { id } of format.toolResults(message)) {
      const isAsked = unanswered.get(id)?.shift() !== undefined;
      if (!isAsked && !isAnswer && !providers.has(id))
        findings.push([index, "a result has no call before it"]);
    }
  }
  for (const index of [...unanswered.values()].flat()) findings.push([index, "a call has no result"]);
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
