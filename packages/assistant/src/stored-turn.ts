import {
  type Anchor,
  type ChatMemory,
  type Entry,
  type HistoryMessage,
  isTurnkeepError,
  type MessageFormat,
} from "@turnkeep/core";
import { type AskedCall, CallsById } from "@turnkeep/core/processors";
import { throwIfAborted } from "./abort.ts";
import type { ApprovalResponse, AssistantMessages, ToolCall, ToolResult } from "./messages.ts";
import { conflict } from "./turn-errors.ts";

/** An answer of the model with the results of its calls, by call index. */
export interface StoredStep<M> {
  readonly message: M;
  readonly calls: readonly ToolCall[];
  readonly results: (ToolResult | undefined)[];
  /** By call index, what the user is asked about a call. */
  readonly approvals: readonly (Approval | undefined)[];
  /** Whether it was read from the store: tools without a result may have run. */
  readonly stored: boolean;
  /** Whether it has a result that the format cannot read back. */
  isUnread: boolean;
  /** Whether the answer was cut off, so that its last call may have lost its arguments. */
  readonly isCut?: boolean | undefined;
  /** Whether it is what was kept of an answer that was stopped. */
  readonly isAborted?: boolean | undefined;
}

/** A call of a step, by its index there. */
export interface CallInStep<M> {
  readonly step: StoredStep<M>;
  readonly place: number;
}

/** A question to the user about a call. */
export interface Approval {
  readonly approvalId: string;
  /** `undefined`: the call waits. */
  response: ApprovalResponse | undefined;
  /** Whether this process stored the response, so that no other can have begun the call. */
  isNew: boolean;
}

/** What is stored of a turn. */
export interface StoredTurn<M> {
  /** The user's message; `undefined` if it is not there. */
  readonly question: M | undefined;
  readonly steps: StoredStep<M>[];
  /** By approval id, the calls that the user was asked about. */
  readonly asked: ReadonlyMap<string, CallInStep<M>>;
  /** The ids of its messages after the user's, in order. */
  readonly messageIds: readonly string[];
  /** Those of them that belong to its newest step. */
  readonly newestIds: readonly string[];
  /** Greater than every number that was ever used in an id made from the user's message's. */
  readonly count: number;
  /** Whether another user message has followed in the conversation. */
  readonly followed: boolean;
}

/**
 * Reads the turn that begins with this message, newest messages first, so that the cost depends on what came after it.
 * Errors: `ID_CONFLICT` if the message was taken back (`rewind`, `set`), `UNSUPPORTED` if the store keeps no history.
 */
export async function readTurn<M>(
  memory: ChatMemory<M>,
  id: string,
  messages: AssistantMessages<M>,
): Promise<StoredTurn<M>> {
  const { format } = memory;
  let behind: HistoryMessage<M>[] = [];
  let followed = false;
  for await (const page of memory.historyPages({ order: "descending", limit: 100 })) {
    for (const message of page.messages) {
      if (message.id === id) {
        if (message.state === "superseded") throw conflict(memory.id, id, "was taken back");
        const stored = turnOf(id, behind.reverse(), format, messages);
        return { ...stored, question: message.message, count: countOf(behind, id), followed };
      }
      if (format.role(message.message) === "user" && message.state !== "superseded") {
        followed = true;
        behind = [];
      } else {
        behind.push(message);
      }
    }
  }
  // A memory without history may have dropped it at once.
  const none = { question: undefined, steps: [], asked: new Map(), messageIds: [], newestIds: [] };
  return { ...none, count: 0, followed: false };
}

/** Whether another process has stored a step of the turn: a message after its question that is not among `own`. */
export async function isShared<M>(
  memory: ChatMemory<M>,
  id: string,
  own: readonly string[],
): Promise<boolean> {
  for await (const { messages } of memory.historyPages({ order: "descending", limit: 100 })) {
    for (const message of messages) {
      if (message.id === id) return false;
      if (message.id.startsWith(`${id}/`) && message.state !== "superseded" && !own.includes(message.id))
        return true;
    }
  }
  return false;
}

/** Whether one of the messages belongs to an earlier turn whose question was removed; its number stays taken. */
export async function standsBefore<M>(
  memory: ChatMemory<M>,
  ids: readonly string[],
  questionId: string,
): Promise<boolean> {
  const { messages } = await memory.history({ ids: [...new Set([...ids, questionId])] });
  const [first] = messages;
  return first !== undefined && first.id !== questionId;
}

/**
 * Adds while what it belongs to is there, but only if nobody has used one of the ids, even with equal content, and `check`,
 * which may read the memory, throws nothing about the state that the message is added to. Errors: `ID_CONFLICT`, `NOT_FOUND`,
 * `ABORTED`.
 */
export async function addAlone<M>(
  memory: ChatMemory<M>,
  ids: readonly string[],
  message: Entry<M>,
  { mustExist, signal, check }: Alone,
): Promise<string[]> {
  for (;;) {
    if (signal !== undefined) throwIfAborted(signal);
    try {
      return await memory.transaction(
        async (transaction) => {
          const [taken] = (await memory.history({ ids })).messages;
          if (taken !== undefined) throw conflict(memory.id, taken.id, "was stored by another process");
          await check?.();
          return transaction.add(message);
        },
        { onConflict: "throw", mustExist },
      );
    } catch (error) {
      if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
    }
  }
}

interface Alone {
  readonly mustExist: Anchor | true;
  readonly signal: AbortSignal | undefined;
  readonly check?: (() => Promise<void>) | undefined;
}

function turnOf<M>(
  questionId: string,
  behind: readonly HistoryMessage<M>[],
  format: MessageFormat<M>,
  messages: AssistantMessages<M>,
): Pick<StoredTurn<M>, "steps" | "asked" | "messageIds" | "newestIds"> {
  const steps: StoredStep<M>[] = [];
  const messageIds: string[] = [];
  let newestIds: string[] = [];
  const asked = new Map<string, CallInStep<M>>();
  const turnCalls = new TurnCalls(format);
  for (const { id, message, state } of behind) {
    if (state === "superseded") continue;
    const role = format.role(message);
    if (role === "system") continue;
    messageIds.push(id);
    newestIds.push(id);
    if (role === "assistant") {
      newestIds = [id];
      const calls = messages.toolCalls(message);
      const approvals = requestsOf(message, calls, format, messages);
      const results = calls.map(() => undefined);
      const mark = numberIn(id, questionId)?.mark;
      const step: StoredStep<M> = {
        message,
        calls,
        results,
        approvals,
        stored: true,
        isUnread: false,
        isCut: mark === "cut",
        isAborted: mark === "aborted",
      };
      steps.push(step);
      turnCalls.add(step);
      for (const [place, approval] of approvals.entries()) {
        if (approval !== undefined && !asked.has(approval.approvalId))
          asked.set(approval.approvalId, { step, place });
      }
    } else {
      takeResults(turnCalls, message, format, messages);
      takeResponses(asked, message, messages);
    }
  }
  return { steps, messageIds, newestIds, asked };
}

/** By call index. A format that the assistant cannot write decisions in has no calls that wait for them. */
function requestsOf<M>(
  message: M,
  calls: readonly ToolCall[],
  format: MessageFormat<M>,
  messages: AssistantMessages<M>,
): readonly (Approval | undefined)[] {
  if (messages.approvals === undefined) return calls.map(() => undefined);
  const ids = new Map<string, string>();
  for (const each of format.approvals(message)) {
    if (each.kind === "request" && !ids.has(each.toolCallId)) ids.set(each.toolCallId, each.approvalId);
  }
  return calls.map(({ id }) => {
    const approvalId = ids.get(id);
    return approvalId === undefined ? undefined : { approvalId, response: undefined, isNew: false };
  });
}

/** The first response to a request counts. */
function takeResponses<M>(asked: StoredTurn<M>["asked"], message: M, messages: AssistantMessages<M>): void {
  for (const response of messages.approvals?.responses(message) ?? []) {
    const { step, place } = asked.get(response.approvalId) ?? {};
    const approval = step?.approvals[place as number];
    if (approval !== undefined) approval.response ??= response;
  }
}

/**
 * What is said in an answer's id, behind its number, to whoever reads the turn: that it is what was kept of one that was
 * stopped, or that it was cut off, so that its last call may have lost its arguments.
 */
export type AnswerMark = "aborted" | "cut";

/** The id of a turn's message, made of its question's. */
export function idIn(questionId: string, number: number, mark?: AnswerMark): string {
  return `${questionId}/${number}${mark === undefined ? "" : `/${mark}`}`;
}

/** What {@link idIn} made the id of; `undefined` if it did not. */
function numberIn(
  id: string,
  questionId: string,
): { readonly number: number; readonly mark: AnswerMark | undefined } | undefined {
  const rest = id.startsWith(`${questionId}/`) ? id.slice(questionId.length + 1) : "";
  const [, number, mark] = /^(\d+)(?:\/(aborted|cut))?$/.exec(rest) ?? [];
  return number === undefined ? undefined : { number: Number(number), mark: mark as AnswerMark | undefined };
}

/** Numbers are skipped if a message was not stored after all, so counting the messages is not enough. */
function countOf<M>(behind: readonly HistoryMessage<M>[], questionId: string): number {
  return behind.reduce((count, { id }) => Math.max(count, (numberIn(id, questionId)?.number ?? -1) + 1), 0);
}

/** Gives each result in a message to the call that it answers. */
function takeResults<M>(
  calls: TurnCalls<M>,
  message: M,
  format: MessageFormat<M>,
  messages: AssistantMessages<M>,
): void {
  const readable = new CallsById<ToolResult>();
  readable.askTogether((messages.toolResults?.(message) ?? []).map((result) => [result.toolCallId, result]));
  for (const { id, name } of format.toolResults(message)) {
    const answered = calls.take(id, name);
    if (answered === undefined) continue;
    const { step, place } = answered;
    const { id: toolCallId, name: toolName } = step.calls[place] as ToolCall;
    const read = readable.take(id);
    step.isUnread ||= read === undefined;
    step.results[place] = { output: null, isError: false, ...read, toolCallId, toolName };
  }
}

/** The calls of a turn by the ids that they have, and by those that the format reports where they have none. */
class TurnCalls<M> {
  readonly #format: MessageFormat<M>;
  readonly #calls: CallsById<CallInStep<M>> = new CallsById();

  constructor(format: MessageFormat<M>) {
    this.#format = format;
  }

  add(step: StoredStep<M>): void {
    const reported = this.#format
      .toolCalls(step.message)
      .filter(({ providerExecuted }) => providerExecuted !== true);
    this.#calls.askTogether(
      step.calls.flatMap((call, place): AskedCall<CallInStep<M>>[] => {
        const id = reported[place]?.id ?? call.id;
        return [call.id, ...(id === call.id ? [] : [id])].map((callId) => [
          callId,
          { step, place },
          call.name,
        ]);
      }),
    );
  }

  /** The call that a result answers, unless it was answered under its other id. */
  take(id: string, toolName: string | undefined): CallInStep<M> | undefined {
    for (;;) {
      const call = this.#calls.take(id, toolName);
      if (call === undefined || call.step.results[call.place] === undefined) return call;
    }
  }
}
