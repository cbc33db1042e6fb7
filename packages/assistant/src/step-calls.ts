import { isTurnkeepError } from "@turnkeep/core";
import { wrongOption } from "@turnkeep/core/store-kit";
import { orAborted, throwIfAborted } from "./abort.ts";
import { isWaiting } from "./approvals.ts";
import type { ChatEvent } from "./assistant.ts";
import { eachBounded } from "./bounded.ts";
import { newApprovalId } from "./call-id.ts";
import type { ToolCall, ToolResult } from "./messages.ts";
import {
  deniedResult,
  errorText,
  failedCall,
  lostInput,
  needsApproval,
  resultOf,
  runCall,
} from "./run-call.ts";
import type { Setup } from "./setup.ts";
import type { Approval, StoredStep } from "./stored-turn.ts";
import { mayNeedApproval } from "./tool.ts";
import type { TurnRecord } from "./turn-record.ts";

/** What a model is told about a call that may or may not have run. */
const interrupted =
  "The tool call was interrupted: it may or may not have been carried out. No result was recorded.";
const notBegun = "The tool call was not carried out: the turn ended before it.";

/** The turn that calls belong to. */
interface CallingTurn<M> {
  readonly memoryId: string;
  readonly signal: AbortSignal;
  readonly emit: ((event: ChatEvent<M>) => void) | undefined;
}

/** The calls of one turn: which the user is asked about, which run, and what is stored of them. */
export class StepCalls<M> {
  readonly #setup: Setup<M>;
  readonly #turn: CallingTurn<M>;
  readonly #record: TurnRecord<M>;
  readonly #begun = new Set<ToolCall>();
  readonly #failed = new Map<ToolCall, unknown>();
  /** Calls of which nobody could tell whether the user must approve them, and why not. */
  readonly #unasked = new Map<ToolCall, unknown>();
  /** Calls that the user was not asked about because their tools do not take the input. */
  readonly #invalid = new Map<ToolCall, { readonly error: unknown }>();

  constructor(setup: Setup<M>, turn: CallingTurn<M>, record: TurnRecord<M>) {
    this.#setup = setup;
    this.#turn = turn;
    this.#record = record;
  }

  /** Whether a tool has run, so that the turn cannot be undone. */
  get hasRun(): boolean {
    return this.#begun.size > 0;
  }

  /** An answer as it is stored: with the requests for the user to approve calls of it. */
  async stepOf(message: M, calls: readonly ToolCall[], isCut: boolean): Promise<StoredStep<M>> {
    const { messages, toolConcurrency } = this.#setup;
    const approvals: (Approval | undefined)[] = calls.map(() => undefined);
    await eachBounded([...calls.entries()], toolConcurrency, async ([place, call]) => {
      if (!(await this.#mustAsk(call, isCut && place === calls.length - 1))) return;
      approvals[place] = { approvalId: newApprovalId(), response: undefined, isNew: false };
    });
    const requests = approvals.flatMap((approval, place) => {
      const { id: toolCallId } = calls[place] as ToolCall;
      return approval === undefined ? [] : [{ approvalId: approval.approvalId, toolCallId }];
    });
    const repeated = repeatedIds(calls);
    for (const { toolCallId } of requests) {
      if (toolCallId !== "" && !repeated.has(toolCallId)) continue;
      throw wrongOption("The id of a call that needs approval", toolCallId, "one that no other call has");
    }
    const results = calls.map(() => undefined);
    const stored = requests.length === 0 ? message : messages.approvals?.request(message, requests);
    return { message: stored as M, calls, results, approvals, stored: false, isUnread: false, isCut };
  }

  async #mustAsk(call: ToolCall, isCut: boolean): Promise<boolean> {
    const { memoryId, signal } = this.#turn;
    try {
      const needed = await orAborted(needsApproval(this.#setup, call, { memoryId, signal }, isCut), signal);
      if (typeof needed === "boolean") return needed;
      this.#invalid.set(call, needed.invalid);
      return false;
    } catch (error) {
      throwIfAborted(signal);
      this.#unasked.set(call, error);
      return false;
    }
  }

  /** Answers the calls of a step that have no result yet and do not wait for the user, and stores each result. */
  async answer(step: StoredStep<M>): Promise<void> {
    const open = step.calls
      .map((call, place) => ({ call, place }))
      .filter(({ place }) => !step.results[place] && !isWaiting(step, place));
    await eachBounded(open, this.#setup.toolConcurrency, async ({ call, place }) => {
      const result = await this.#run(step, call, place);
      try {
        await this.#storeResult(step, place, result);
      } catch (error) {
        const isRefused =
          isTurnkeepError(error, "INVALID_MESSAGE") || isTurnkeepError(error, "MESSAGE_TOO_LARGE");
        if (!isRefused) throw error;
        await this.#storeResult(step, place, await this.#unstorable(call, error));
      }
    });
  }

  /** Replaces a result that the memory refuses: for the model, the tool has failed. */
  async #unstorable(call: ToolCall, error: unknown): Promise<ToolResult> {
    try {
      return await failedCall(this.#setup, call, error);
    } catch (thrown) {
      this.#failed.set(call, thrown);
      throw thrown;
    }
  }

  async #run(step: StoredStep<M>, call: ToolCall, place: number): Promise<ToolResult> {
    const { memoryId, signal } = this.#turn;
    const approval = step.approvals[place];
    if (approval?.response?.approved === false) return deniedResult(call, approval.response.reason);
    if (this.#mayRunElsewhere(step, place)) return resultOf(call, interrupted, true);
    throwIfAborted(signal);
    const isCut = isCutBehind(step, place);
    try {
      const onStart = (): unknown => this.#begun.add(call);
      const running = this.#unasked.has(call)
        ? failedCall(this.#setup, call, this.#unasked.get(call))
        : runCall(
            this.#setup,
            call,
            { memoryId, signal },
            { onStart, isCut, invalid: this.#invalid.get(call) },
          );
      return await orAborted(running, signal);
    } catch (error) {
      if (!signal.aborted) this.#failed.set(call, error);
      throw error;
    }
  }

  /** A call of the step that another process may be running, and that must not run twice. */
  runningElsewhere(step: StoredStep<M>): ToolCall | undefined {
    return step.calls.find((_, place) => !step.results[place] && this.#mayRunElsewhere(step, place));
  }

  /** Whether another process may have begun a call that must not run twice. */
  #mayRunElsewhere(step: StoredStep<M>, place: number): boolean {
    const { response } = step.approvals[place] ?? {};
    if (!mayHaveRun(step, place) || isWaiting(step, place) || response?.approved === false) return false;
    const call = step.calls[place] as ToolCall;
    const { tools, strategies, messages } = this.#setup;
    const tool = tools.get(call.name);
    if (tool === undefined) return false;
    // Without its arguments it was refused, unless a function may have given it others.
    const mayHaveInput =
      typeof strategies.invalidInput === "function" || lostInput(call, messages) === undefined;
    if (isCutBehind(step, place) && !mayHaveInput) return false;
    // Nobody has said that it may run if it stands without a request although its tool needs one.
    return tool.idempotent !== true || (response === undefined && mayNeedApproval(tool));
  }

  async #storeResult(step: StoredStep<M>, place: number, result: ToolResult): Promise<void> {
    await this.#record.store(this.#setup.messages.toolResult(result));
    step.results[place] = result;
    this.#turn.emit?.({ type: "tool-result", result });
  }

  /** Gives each call that the turn ended before a result, except those that wait for the user. */
  async end(steps: readonly StoredStep<M>[]): Promise<void> {
    for (const step of steps) {
      for (const [place, call] of step.calls.entries()) {
        if (step.results[place] !== undefined || isWaiting(step, place)) continue;
        await this.#storeResult(step, place, this.#endedCall(step, call, place));
      }
    }
  }

  /** What the model is told about a call that the turn ended before. */
  #endedCall(step: StoredStep<M>, call: ToolCall, place: number): ToolResult {
    const response = step.approvals[place]?.response;
    if (response?.approved === false) return deniedResult(call, response.reason);
    if (this.#failed.has(call)) return resultOf(call, errorText(this.#failed.get(call)), true);
    const isOpen = this.#begun.has(call) || mayHaveRun(step, place);
    return resultOf(call, isOpen ? interrupted : notBegun, true);
  }
}

/** Whether the answer was cut off behind that call, so that it may have lost its arguments. */
function isCutBehind<M>({ isCut, calls }: StoredStep<M>, place: number): boolean {
  return isCut === true && place === calls.length - 1;
}

/** Whether another process may have begun the call: it read the step, or the user's approval, from the store too. */
function mayHaveRun<M>({ stored, approvals }: StoredStep<M>, place: number): boolean {
  return stored && approvals[place]?.isNew !== true;
}

function repeatedIds(calls: readonly ToolCall[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { id } of calls) (seen.has(id) ? repeated : seen).add(id);
  return repeated;
}
