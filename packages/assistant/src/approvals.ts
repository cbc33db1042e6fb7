import {
  type Fields,
  oneOf,
  optional,
  quoted,
  such,
  takeOptions,
  wrongOption,
} from "@turnkeep/core/store-kit";
import type { Approvals } from "./assistant.ts";
import { AssistantError } from "./errors.ts";
import type { ApprovalRequest, ApprovalResponse, ToolCall } from "./messages.ts";
import type { Approval, StoredStep, StoredTurn } from "./stored-turn.ts";

/** Whether a chat is given decisions in place of a message. */
export function isApprovals(said: unknown): said is Approvals {
  return typeof said === "object" && said !== null && Object.hasOwn(said, "approvals");
}

const fields = {
  approvals: such<readonly ApprovalResponse[]>("a list of at least one { approvalId, approved }", isFilled),
} satisfies Fields<Approvals>;

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

const ownId = "a text that no other of them has";

const responseFields = {
  approvalId: such<string>(ownId, (id) => typeof id === "string" && id !== ""),
  approved: oneOf(true, false),
  reason: optional(checkReason),
} satisfies Fields<ApprovalResponse>;

/** What the user gave as a reason is not shown. */
function checkReason(name: string, reason: unknown): void {
  if (typeof reason !== "string") throw wrongOption(name, typeof reason, "a text");
}

/** Errors: `INVALID_OPTION`. */
export function responsesOf(said: Approvals): readonly ApprovalResponse[] {
  const { approvals } = takeOptions("what a chat is given in place of a message", fields, said);
  const ids = new Set<string>();
  return approvals.map((given, index) => {
    const place = `approvals[${index}]`;
    const response = takeOptions(place, responseFields, given, `${place}.`);
    const { approvalId } = response;
    if (ids.has(approvalId)) throw wrongOption(`${place}.approvalId`, approvalId, ownId);
    ids.add(approvalId);
    return response;
  });
}

/** The calls of a step that wait for the user. */
export function waitingIn<M>(step: StoredStep<M>): ApprovalRequest[] {
  return step.calls.flatMap((call, place) => {
    const { approvalId } = (isWaiting(step, place) && step.approvals[place]) || {};
    return approvalId === undefined ? [] : [{ approvalId, call }];
  });
}

export function isWaiting<M>({ approvals, results }: StoredStep<M>, place: number): boolean {
  const approval = approvals[place];
  return approval !== undefined && approval.response === undefined && results[place] === undefined;
}

/** Where a turn is, for errors. */
interface TurnPlace {
  readonly memoryId: string;
  readonly id: string;
}

/** A decision that is not stored yet, with what it is about. */
export interface Decision {
  readonly approval: Approval;
  readonly response: ApprovalResponse;
}

/** The decisions that are not stored yet. Errors: `UNKNOWN_APPROVAL`, `APPROVAL_CONFLICT`. */
export function newDecisions<M>(
  { asked, steps, followed }: StoredTurn<M>,
  responses: readonly ApprovalResponse[],
  turn: TurnPlace,
): Decision[] {
  return responses.flatMap((response): Decision[] => {
    const { approvalId } = response;
    const found = asked.get(approvalId);
    if (found === undefined) throw unknownApproval(approvalId, turn);
    const { step, place } = found;
    const approval = step.approvals[place] as Approval;
    const conflict = (what: string): AssistantError =>
      approvalConflict(approvalId, step.calls[place] as ToolCall, what, turn);
    if (approval.response !== undefined) {
      if (approval.response.approved === response.approved) return [];
      throw conflict(approval.response.approved ? "was approved before" : "was denied before");
    }
    if (followed || step !== steps.at(-1)) throw conflict("waits no longer: the conversation has gone on");
    if (!isWaiting(step, place)) throw conflict("was answered without a decision");
    return [{ approval, response }];
  });
}

export function callRuns(
  { id: toolCallId, name: toolName }: ToolCall,
  { memoryId, id }: TurnPlace,
): AssistantError {
  return new AssistantError(
    "BUSY",
    `Memory ${quoted(memoryId)}: the call ${quoted(toolCallId)} of the tool ${quoted(toolName)}, in the ` +
      `turn of message ${quoted(id)}, has no result yet: another process runs it, or has ended without one. Send the ` +
      "decisions again later. If nothing runs the call any more, chat with the message and its id: the call then counts as " +
      "interrupted.",
    { details: { memoryId, toolCallId, toolName } },
  );
}

function unknownApproval(approvalId: string, { memoryId, id }: TurnPlace): AssistantError {
  return new AssistantError(
    "UNKNOWN_APPROVAL",
    `Memory ${quoted(memoryId)}: no call in the turn of message ${quoted(id)} waits under the approval id ` +
      `${quoted(approvalId)}. Use the ids of the result's approvalRequests.`,
    { details: { memoryId, approvalId } },
  );
}

function approvalConflict(
  approvalId: string,
  { id: toolCallId, name: toolName }: ToolCall,
  what: string,
  { memoryId, id }: TurnPlace,
): AssistantError {
  return new AssistantError(
    "APPROVAL_CONFLICT",
    `Memory ${quoted(memoryId)}: the call behind the approval id ${quoted(approvalId)}, in the turn of message ` +
      `${quoted(id)}, ${what}. The decision was not stored, and changes nothing.`,
    { details: { memoryId, approvalId, toolCallId, toolName } },
  );
}
