import { type ChatMemory, isTurnkeepError, type MessageFormat, type TurnkeepError } from "@turnkeep/core";
import { quoted, wrongOption } from "@turnkeep/core/store-kit";
import { abortedError, orAborted, throwIfAborted } from "./abort.ts";
import { AnswerEvents } from "./answer-events.ts";
import { callRuns, type Decision, newDecisions, waitingIn } from "./approvals.ts";
import type { ChatEvent, ChatResult } from "./assistant.ts";
import { AssistantError } from "./errors.ts";
import type { ApprovalResponse } from "./messages.ts";
import type { ModelResponse } from "./model.ts";
import { calibrate, requestMessages } from "./request.ts";
import type { Setup } from "./setup.ts";
import { StepCalls } from "./step-calls.ts";
import { readTurn, type StoredStep, type StoredTurn } from "./stored-turn.ts";
import { conflict, deleted } from "./turn-errors.ts";
import { TurnRecord } from "./turn-record.ts";
import { noUsage, withUsage } from "./usage.ts";

/** What a turn starts from. */
export interface TurnRequest<M> {
  readonly memory: ChatMemory<M>;
  readonly memoryId: string;
  readonly system: M | undefined;
  /** `undefined`: the turn goes on with `responses`. */
  readonly user: M | undefined;
  readonly responses: readonly ApprovalResponse[] | undefined;
  /** The caller's own id for the user's message. */
  readonly id: string | undefined;
  readonly signal: AbortSignal;
  /** Set if somebody follows the turn as it happens. */
  readonly emit: ((event: ChatEvent<M>) => void) | undefined;
}

/** One turn: every step is stored before the next begins. */
export class Turn<M> {
  readonly #setup: Setup<M>;
  readonly #request: TurnRequest<M>;
  readonly #record: TurnRecord<M>;
  readonly #calls: StepCalls<M>;
  #usage = noUsage;
  /** Of the answer that is being made. */
  #events: AnswerEvents | undefined;
  #id = "";
  #question: M | undefined;
  #steps: StoredStep<M>[] = [];
  #continued = false;

  constructor(setup: Setup<M>, request: TurnRequest<M>) {
    this.#setup = setup;
    this.#request = request;
    this.#record = new TurnRecord(setup, request);
    this.#calls = new StepCalls(setup, request, this.#record);
  }

  async run(): Promise<ChatResult<M>> {
    try {
      const finished = await this.#begin();
      if (finished !== undefined) return finished;
      return await this.#loop().catch(async (error) => {
        throw await this.#ended(error);
      });
    } catch (error) {
      throw isTurnkeepError(error, "TURN_LOST") ? await this.#record.lost(error) : error;
    }
  }

  /** Stores what the user says and finds out what is stored of the turn; returns the result of a finished one. */
  async #begin(): Promise<ChatResult<M> | undefined> {
    const { memory, system, user, responses, id } = this.#request;
    this.#id = user === undefined ? (id as string) : await this.#record.begin(system, user);
    this.#question = user;
    const notFound = await this.#hold();
    if (id === undefined) {
      if (notFound !== undefined) throw await this.#record.lost(notFound);
      return undefined;
    }
    // Without the signal: a turn that gives up now takes the question back, and must know what stands after it.
    const stored = await readTurn(memory, id, this.#setup.messages);
    this.#steps = stored.steps;
    this.#question ??= stored.question;
    this.#record.continue(stored);
    this.#continued = stored.messageIds.length > 0;
    if (responses !== undefined) await this.#decide(stored, responses, id);
    else if (notFound !== undefined) throw await this.#record.lost(notFound);
    const last = this.#steps.at(-1);
    if (last?.calls.length === 0) return this.#result(last.isAborted === true ? "aborted" : "stop");
    if (last !== undefined && this.#isImmediate(last)) return this.#result("tool");
    if (stored.followed) {
      throw conflict(memory.id, id, "was not answered, and the conversation has gone on since");
    }
    return undefined;
  }

  /** Binds the turn to its question. Returns the error if that is not there: the turn as it is stored may tell why. */
  async #hold(): Promise<TurnkeepError | undefined> {
    try {
      await this.#record.hold(this.#id, { mustLook: this.#request.user === undefined });
      return undefined;
    } catch (error) {
      if (isTurnkeepError(error, "NOT_FOUND")) return error;
      throw error;
    }
  }

  /** Stores the user's decisions that are not stored yet. From then on, the calls that they allow may have run. */
  async #decide(stored: StoredTurn<M>, responses: readonly ApprovalResponse[], id: string): Promise<void> {
    const { memory } = this.#request;
    const { messages } = this.#setup;
    const place = { memoryId: memory.id, id };
    if (this.#steps.length === 0 && (await memory.history({ limit: 1 })).messages.length === 0)
      throw deleted(memory.id);
    const lookAt = (state: StoredTurn<M>): Decision[] => {
      const decisions = newDecisions(state, responses, place);
      this.#refuseWhileCallsRun(state);
      return decisions;
    };
    const decisions = lookAt(stored);
    if (decisions.length === 0) return;
    const message = messages.approvals?.response(decisions.map(({ response }) => response)) as M;
    const check = async (): Promise<void> => {
      lookAt(await readTurn(memory, id, messages));
    };
    await this.#record.store(message, { check });
    for (const { approval, response } of decisions) Object.assign(approval, { response, isNew: true });
  }

  /** A decision may come from anywhere at any time, so it takes no call for lost, as the message does. Errors: `BUSY`. */
  #refuseWhileCallsRun({ steps, followed }: StoredTurn<M>): void {
    const step = steps.at(-1);
    const running = step && !followed ? this.#calls.runningElsewhere(step) : undefined;
    const { id, memoryId } = this.#request;
    if (running !== undefined) throw callRuns(running, { memoryId, id: id as string });
  }

  async #loop(): Promise<ChatResult<M>> {
    const { maxRoundTrips, strategies, messages } = this.#setup;
    const { memory, emit } = this.#request;
    for (;;) {
      const open = this.#steps.at(-1);
      if (open !== undefined) {
        await this.#calls.answer(open);
        if (waitingIn(open).length > 0) return this.#result("approval");
        if (this.#isImmediate(open)) return this.#result("tool");
      }
      const mayCall = this.#steps.length < maxRoundTrips;
      const mustAnswer = !mayCall && strategies.tooManyRoundTrips === "answer";
      const events = emit && new AnswerEvents(emit);
      this.#events = events;
      const response = await this.#ask(mustAnswer ? "none" : "auto", events);
      const { message } = response;
      const calls = messages.toolCalls(message);
      const finishReason = cutOff(response) ?? "stop";
      if (calls.length > 0 && !mayCall) throw this.#tooManyRoundTrips();
      if (calls.length === 0 && saysNothing(message, memory.format)) {
        // Providers refuse an empty message, or reasoning alone. After results it means: nothing left to say.
        if (this.#steps.length > 0) return this.#result(finishReason, "");
        const why = finishReason === "stop" ? "" : ` (${finishReason})`;
        throw new AssistantError("EMPTY_ANSWER", `The model answered neither text nor a tool call${why}.`, {
          details: { memoryId: this.#request.memoryId },
        });
      }
      const step = await this.#calls.stepOf(message, calls, finishReason !== "stop");
      await this.#record.store(step.message, {
        model: response.model,
        mark: step.isCut === true && calls.length > 0 ? "cut" : undefined,
      });
      this.#events = undefined;
      this.#steps.push(step);
      events?.whole(messages.text(message));
      if (calls.length === 0) return this.#result(finishReason);
      for (const call of calls) emit?.({ type: "tool-call", call });
    }
  }

  async #ask(toolChoice: "auto" | "none", events: AnswerEvents | undefined): Promise<ModelResponse<M>> {
    const { model, definitions } = this.#setup;
    const { memory, memoryId, signal } = this.#request;
    const messages = Object.freeze(await this.#messages());
    throwIfAborted(signal);
    const response = await orAborted(
      model({
        messages,
        tools: definitions,
        toolChoice,
        signal,
        memoryId,
        ...(events === undefined ? {} : { onDelta: (delta) => events.delta(delta) }),
      }),
      signal,
    );
    const message = response?.message ?? undefined;
    if (message === undefined || memory.format.role(message) !== "assistant") {
      throw wrongOption("The model's answer", message ?? response, "{ message }, a message of the assistant");
    }
    this.#usage = withUsage(this.#usage, response.usage);
    await calibrate(memory, response.usage, definitions);
    return response;
  }

  /** Errors: `MEMORY_DELETED`, `QUESTION_GONE`, `WINDOW_OVERFLOW`. */
  async #messages(): Promise<M[]> {
    const { memory, signal } = this.#request;
    const { newestIds } = this.#record;
    const question = this.#question as M;
    try {
      return await requestMessages(memory, signal, { question, questionId: this.#id, newestIds });
    } catch (error) {
      throw isTurnkeepError(error, "NOT_FOUND") ? await this.#record.lost(error) : error;
    }
  }

  /** A result that cannot be read may be an error. */
  #isImmediate({ calls, results, isUnread }: StoredStep<M>): boolean {
    if (calls.length === 0 || isUnread || !results.every((result) => result?.isError === false)) return false;
    const behaviors = calls.map(({ name }) => this.#setup.tools.get(name)?.returnBehavior ?? "model");
    return behaviors.at(-1) === "immediate-if-last" || !behaviors.includes("model");
  }

  /** Leaves of the turn what is to stay; returns the error that it ends with. */
  async #ended(error: unknown): Promise<unknown> {
    const { signal, memoryId } = this.#request;
    const { onAbort, keepFailedTurns } = this.#setup;
    const cause = signal.aborted ? abortedError(signal) : error;
    const isStopped = signal.aborted && onAbort === "keep";
    if (this.#record.isForeign || this.#record.isLost || isTurnkeepError(cause, "TURN_LOST")) return cause;
    if (keepFailedTurns && !isStopped) return cause;
    try {
      if (isStopped) return await this.#stop();
      await this.#undo();
      return cause;
    } catch (undoing) {
      const isLost = this.#record.isLost || isTurnkeepError(undoing, "TURN_LOST");
      if (this.#record.isForeign || isLost) return cause;
      return new AssistantError(
        "UNDO_FAILED",
        `A turn of memory ${quoted(memoryId)} failed, and then the store when the turn was to be taken back or its ` +
          "rest to be kept; errors has both. Asked again with the same id, the turn goes on from what is stored.",
        { cause, errors: [cause, undoing], details: { memoryId } },
      );
    }
  }

  /** Keeps what the user has seen of the answer, and ends the calls. Returns the error that the turn ends with. */
  async #stop(): Promise<unknown> {
    const { signal, memoryId } = this.#request;
    await this.#calls.end(this.#steps);
    const text = this.#events?.streamed ?? "";
    // Providers refuse a blank answer.
    if (text.trim() === "") return abortedError(signal);
    await this.#record.store(this.#setup.messages.assistant(text), { mark: "aborted" });
    return abortedError(signal, { memoryId, messageIds: this.#record.newestIds });
  }

  /**
   * If a tool has run, the turn stays and every call gets a result, except those that wait for the user; else only
   * other processes' steps stay.
   */
  async #undo(): Promise<void> {
    const hasRun = this.#calls.hasRun || this.#steps.some((step) => step.stored && step.calls.length > 0);
    await (hasRun ? this.#calls.end(this.#steps) : this.#record.takeBack());
  }

  #tooManyRoundTrips(): AssistantError {
    const { maxRoundTrips } = this.#setup;
    const { memoryId } = this.#request;
    return new AssistantError(
      "TOO_MANY_ROUND_TRIPS",
      `The model calls tools once more after ${maxRoundTrips} round trips (maxRoundTrips); that answer was not stored.`,
      { details: { memoryId } },
    );
  }

  #result(finishReason: ChatResult<M>["finishReason"], given?: string): ChatResult<M> {
    const last = this.#steps.at(-1) as StoredStep<M>;
    const text = given ?? this.#setup.messages.text(last.message);
    // An answer that was found in the store has not been reported yet.
    if (last.stored && text !== "") this.#request.emit?.({ type: "text", text });
    const approvalRequests = finishReason === "approval" ? waitingIn(last) : [];
    for (const request of approvalRequests) this.#request.emit?.({ type: "tool-approval-request", request });
    return {
      text,
      finishReason,
      approvalRequests,
      id: this.#id,
      memoryId: this.#request.memoryId,
      messages: this.#steps.map(({ message }) => message),
      toolResults: this.#steps.flatMap(({ results }) => results.filter((each) => each !== undefined)),
      usage: this.#usage,
      continued: this.#continued,
    };
  }
}

function saysNothing<M>(message: M, format: MessageFormat<M>): boolean {
  return (
    format.isEmpty(message) ||
    (format.hasReasoning(message) && format.without(message, { reasoning: true }) === undefined)
  );
}

function cutOff<M>({ finishReason }: ModelResponse<M>): "length" | "content-filter" | undefined {
  return finishReason === "length" || finishReason === "content-filter" ? finishReason : undefined;
}
