import {
  type ChatMemory,
  type Entry,
  type HistoryMessage,
  isTurnkeepError,
  type MessageFormat,
  TurnkeepError,
} from "@turnkeep/core";
import { throwIfAborted } from "./abort.ts";
import { AssistantError } from "./errors.ts";
import type { ApprovalResponse, AssistantMessages, ToolCall, ToolResult } from "./messages.ts";

/** An answer of the model with the results of its calls, by call index. */
export interface Step<M> {
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
  readonly steps: Step<M>[];
  /** The ids of its messages after the user's, in order. */
  readonly messageIds: readonly string[];
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
        return { ...turnOf(behind.reverse(), format, messages), count: countOf(behind, id), followed };
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
  return { steps: [], messageIds: [], count: 0, followed: false };
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

/** Whether a message belongs to an earlier turn whose question was removed; its number stays taken. */
export async function standsBefore<M>(memory: ChatMemory<M>, own: string, id: string): Promise<boolean> {
  const { messages } = await memory.history({ ids: [own, id] });
  return messages[0]?.id === own;
}

/** Adds to an existing memory: a turn must not begin anew what somebody deleted since its question was stored. */
export function addBehind<M>(memory: ChatMemory<M>, entries: readonly Entry<M>[]): Promise<string[]> {
  return memory.transaction((transaction) => transaction.add(...entries), { mustExist: true });
}

/**
 * The same, but only if nobody has used the id, even with equal content, and `check`, which may read the memory, throws
 * nothing about the state that the entries are added to. Errors: `ID_CONFLICT`, `ABORTED`.
 */
export async function addAlone<M>(
  memory: ChatMemory<M>,
  own: string,
  entries: readonly Entry<M>[],
  { signal, check }: { readonly signal: AbortSignal; readonly check?: (() => Promise<void>) | undefined },
): Promise<string[]> {
  for (;;) {
    throwIfAborted(signal);
    try {
      return await memory.transaction(
        async (transaction) => {
          const { messages } = await memory.history({ ids: [own] });
          if (messages.length > 0) throw conflict(memory.id, own, "was stored by another process");
          await check?.();
          return transaction.add(...entries);
        },
        { onConflict: "throw", mustExist: true },
      );
    } catch (error) {
      if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
    }
  }
}

export function deleted(memoryId: string, cause?: TurnkeepError): AssistantError {
  return new AssistantError(
    "MEMORY_DELETED",
    `Memory ${JSON.stringify(memoryId)} was deleted (clear, erase), or expired, under a turn. Nothing more of the turn was stored.`,
    { cause, details: { memoryId } },
  );
}

export function conflict(memoryId: string, id: string, what: string): TurnkeepError {
  return new TurnkeepError(
    "ID_CONFLICT",
    `Memory ${JSON.stringify(memoryId)}: the message ${JSON.stringify(id)} ${what}. Send the message with another id.`,
    { details: { memoryId, messageIds: [id] } },
  );
}

export function overtaken(memoryId: string, id: string, cause: unknown): TurnkeepError {
  return new TurnkeepError(
    "ID_CONFLICT",
    `Memory ${JSON.stringify(memoryId)}: another process runs the turn of message ${JSON.stringify(id)} too, and stored ` +
      "its next step first. Send the same again, with the same id: it goes on from what is stored.",
    { cause, details: { memoryId, messageIds: [id] } },
  );
}

function turnOf<M>(
  behind: readonly HistoryMessage<M>[],
  format: MessageFormat<M>,
  messages: AssistantMessages<M>,
): Omit<StoredTurn<M>, "count" | "followed"> {
  const steps: Step<M>[] = [];
  const messageIds: string[] = [];
  for (const { id, message, state } of behind) {
    if (state === "superseded") continue;
    const role = format.role(message);
    if (role === "system") continue;
    messageIds.push(id);
    if (role === "assistant") {
      const calls = messages.toolCalls(message);
      const approvals = requestsOf(message, calls, format, messages);
      const results = calls.map(() => undefined);
      steps.push({ message, calls, results, approvals, stored: true, isUnread: false });
    } else {
      takeResults(steps, message, format, messages);
      takeResponses(steps, message, messages);
    }
  }
  return { steps, messageIds };
}

/** By call index. A format that the assistant cannot write decisions in has no calls that wait for them. */
function requestsOf<M>(
  message: M,
  calls: readonly ToolCall[],
  format: MessageFormat<M>,
  messages: AssistantMessages<M>,
): readonly (Approval | undefined)[] {
  if (messages.approvals === undefined) return calls.map(() => undefined);
  const requests = format.approvals(message).filter((approval) => approval.kind === "request");
  return calls.map(({ id }) => {
    const request = requests.find(({ toolCallId }) => toolCallId === id);
    return request && { approvalId: request.approvalId, response: undefined, isNew: false };
  });
}

/** The first response to a request counts. */
function takeResponses<M>(steps: readonly Step<M>[], message: M, messages: AssistantMessages<M>): void {
  for (const response of messages.approvals?.responses(message) ?? []) {
    for (const { approvals } of steps) {
      const approval = approvals.find((each) => each?.approvalId === response.approvalId);
      if (approval !== undefined) approval.response ??= response;
    }
  }
}

/** Numbers are skipped if a message was not stored after all, so counting the messages is not enough. */
function countOf<M>(behind: readonly HistoryMessage<M>[], id: string): number {
  const prefix = `${id}/`;
  return behind.reduce((count, message) => {
    const number = message.id.startsWith(prefix) ? message.id.slice(prefix.length) : "";
    return /^\d+$/.test(number) ? Math.max(count, Number(number) + 1) : count;
  }, 0);
}

/** Each result answers the newest call of its id that has none; calls of one message may share an id. */
function takeResults<M>(
  steps: readonly Step<M>[],
  message: M,
  format: MessageFormat<M>,
  messages: AssistantMessages<M>,
): void {
  const readable = [...(messages.toolResults?.(message) ?? [])];
  for (const { id } of format.toolResults(message)) {
    const isOpen = (step: Step<M>): boolean => openCall(step, id, format) >= 0;
    const step = steps.findLast(isOpen);
    if (step === undefined) continue;
    const place = openCall(step, id, format);
    const { id: toolCallId, name: toolName } = step.calls[place] as ToolCall;
    const at = readable.findIndex((result) => result.toolCallId === id);
    const [read] = at < 0 ? [] : readable.splice(at, 1);
    step.isUnread ||= read === undefined;
    step.results[place] = { output: null, isError: false, ...read, toolCallId, toolName };
  }
}

/** The index of the first call of that id without a result. The format may report an id where the call has none. */
function openCall<M>(step: Step<M>, id: string, format: MessageFormat<M>): number {
  const own = format.toolCalls(step.message).filter(({ providerExecuted }) => providerExecuted !== true);
  return step.calls.findIndex(
    (call, place) => step.results[place] === undefined && (call.id === id || own[place]?.id === id),
  );
}
