import {
  type ChatMemory,
  type Entry,
  entry,
  isTurnkeepError,
  type MessageFormat,
  type RemovalOptions,
} from "@turnkeep/core";
import { wrongOption } from "@turnkeep/core/store-kit";
import { abortedError, orAborted, throwIfAborted } from "./abort.ts";
import { AnswerEvents } from "./answer-events.ts";
import type { ChatEvent, ChatResult } from "./assistant.ts";
import { eachBounded } from "./bounded.ts";
import { AssistantError } from "./errors.ts";
import type { ToolCall, ToolResult } from "./messages.ts";
import type { ModelResponse } from "./model.ts";
import { calibrate, requestMessages } from "./request.ts";
import { errorText, failedCall, resultOf, runCall } from "./run-call.ts";
import type { Setup } from "./setup.ts";
import {
  addAlone,
  addBehind,
  conflict,
  deleted,
  isShared,
  overtaken,
  readTurn,
  type Step,
  standsBefore,
} from "./stored-turn.ts";

/** What a turn starts from. */
export interface TurnRequest<M> {
  readonly memory: ChatMemory<M>;
  readonly memoryId: string;
  readonly system: M | undefined;
  readonly user: M;
  /** The caller's own id for the user's message. */
  readonly id: string | undefined;
  readonly signal: AbortSignal;
  /** Set if somebody follows the turn as it happens. */
  readonly emit: ((event: ChatEvent<M>) => void) | undefined;
}

/** What a model is told about a call that may or may not have run. */
const interrupted =
  "The tool call was interrupted: it may or may not have been carried out. No result was recorded.";
const notBegun = "The tool call was not carried out: the turn ended before it.";

/** One turn: every step is stored before the next begins. */
export class Turn<M> {
  readonly #setup: Setup<M>;
  readonly #request: TurnRequest<M>;
  readonly #usage = { inputTokens: 0, outputTokens: 0 };
  readonly #begun = new Set<ToolCall>();
  readonly #failed = new Map<ToolCall, unknown>();
  #id = "";
  #steps: Step<M>[] = [];
  #messageIds: string[] = [];
  #count = 0;
  #continued = false;
  /** Another process runs this turn too, so what it has stored must not be taken back. */
  #isForeign = false;
  /** Somebody has deleted the conversation: what has begun anew since is another one. */
  #deleted: AssistantError | undefined;

  constructor(setup: Setup<M>, request: TurnRequest<M>) {
    this.#setup = setup;
    this.#request = request;
  }

  async run(): Promise<ChatResult<M>> {
    const finished = await this.#begin();
    if (finished !== undefined) return finished;
    try {
      return await this.#loop();
    } catch (error) {
      throw await this.#ended(error);
    }
  }

  /** Stores the user's message and finds out what is stored of the turn; returns the result of a finished one. */
  async #begin(): Promise<ChatResult<M> | undefined> {
    const { memory, system, user, id } = this.#request;
    const messages = [...(system === undefined ? [] : [system]), entry(user, { id })];
    const [userId] = (await memory.add(...messages)).slice(-1);
    this.#id = userId as string;
    this.#messageIds = [this.#id];
    if (id === undefined) return undefined;
    // Without the signal: a turn that gives up now takes the question back, and must know what stands after it.
    const stored = await readTurn(memory, id, this.#setup.messages);
    this.#steps = stored.steps;
    // A question that was answered before, and is answered anew, is not this turn's to take back.
    if (stored.count > 0) this.#messageIds = [];
    this.#messageIds.push(...stored.messageIds);
    this.#count = stored.count;
    this.#continued = stored.messageIds.length > 0;
    const last = this.#steps.at(-1);
    if (last?.calls.length === 0) return this.#result("stop");
    if (last !== undefined && this.#isImmediate(last)) return this.#result("tool");
    if (stored.followed) {
      throw conflict(memory.id, id, "was not answered, and the conversation has gone on since");
    }
    return undefined;
  }

  async #loop(): Promise<ChatResult<M>> {
    const { maxRoundTrips, strategies, messages } = this.#setup;
    const { memory, emit } = this.#request;
    for (;;) {
      const open = this.#steps.at(-1);
      if (open !== undefined) {
        await this.#answer(open);
        if (this.#isImmediate(open)) return this.#result("tool");
      }
      const mayCall = this.#steps.length < maxRoundTrips;
      const mustAnswer = !mayCall && strategies.tooManyRoundTrips === "answer";
      const events = emit && new AnswerEvents(emit);
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
      await this.#store(message, response.model);
      this.#steps.push({
        message,
        calls,
        results: calls.map(() => undefined),
        stored: false,
        isUnread: false,
        isCut: finishReason !== "stop",
      });
      events?.whole(messages.text(message));
      if (calls.length === 0) return this.#result(finishReason);
      for (const call of calls) emit?.({ type: "tool-call", call });
    }
  }

  async #ask(toolChoice: "auto" | "none", events: AnswerEvents | undefined): Promise<ModelResponse<M>> {
    const { model, definitions } = this.#setup;
    const { memory, memoryId, signal } = this.#request;
    const messages = Object.freeze(await requestMessages(memory, signal, this.#question()));
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
    this.#usage.inputTokens += tokensOf(response.usage?.inputTokens);
    this.#usage.outputTokens += tokensOf(response.usage?.outputTokens);
    await calibrate(memory, response.usage, definitions);
    return response;
  }

  /** Answers the calls of a step that have no result yet, and stores each result. */
  async #answer(step: Step<M>): Promise<void> {
    const open = step.calls
      .map((call, place) => ({ call, place }))
      .filter(({ place }) => !step.results[place]);
    await eachBounded(open, this.#setup.toolConcurrency, async ({ call, place }) => {
      const isCut = step.isCut === true && place === step.calls.length - 1;
      const result = await this.#run(call, step.stored, isCut);
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

  async #run(call: ToolCall, mayHaveRun: boolean, isCut: boolean): Promise<ToolResult> {
    const { memoryId, signal } = this.#request;
    const tool = this.#setup.tools.get(call.name);
    if (mayHaveRun && tool !== undefined && tool.idempotent !== true)
      return resultOf(call, interrupted, true);
    throwIfAborted(signal);
    try {
      const onStart = (): unknown => this.#begun.add(call);
      const running = runCall(this.#setup, call, { memoryId, signal }, { onStart, isCut });
      return await orAborted(running, signal);
    } catch (error) {
      if (!signal.aborted) this.#failed.set(call, error);
      throw error;
    }
  }

  async #storeResult(step: Step<M>, place: number, result: ToolResult): Promise<void> {
    await this.#store(this.#setup.messages.toolResult(result));
    step.results[place] = result;
    this.#request.emit?.({ type: "tool-result", result });
  }

  /**
   * Uses an id made from the caller's, so that if two processes run the turn at once, only the first stores an answer;
   * the other gets `ID_CONFLICT`. The first answer is stored with the question, which the other may have taken back.
   */
  async #store(message: M, model?: string | undefined): Promise<void> {
    if (this.#deleted !== undefined) throw this.#deleted;
    const { memory, id } = this.#request;
    const own = id === undefined ? undefined : `${id}/${this.#count++}`;
    const question = this.#question();
    try {
      const entries = [...(question === undefined ? [] : [question]), entry(message, { id: own, model })];
      const stored =
        own !== undefined && this.#mustRunOnce(message)
          ? await addAlone(memory, own, entries, this.#request.signal)
          : await addBehind(memory, entries);
      this.#messageIds.push(stored.at(-1) as string);
    } catch (error) {
      if (isTurnkeepError(error) && error.details.missing === true) {
        this.#deleted = deleted(memory.id, error);
        throw this.#deleted;
      }
      if (id === undefined || own === undefined || !isTurnkeepError(error, "ID_CONFLICT")) throw error;
      if (await standsBefore(memory, own, id)) return this.#store(message, model);
      this.#isForeign = true;
      throw overtaken(memory.id, id, error);
    }
  }

  /** Two processes may get the same answer, from a cache for example: only the one that stores it runs its tools. */
  #mustRunOnce(message: M): boolean {
    const { messages, tools } = this.#setup;
    if (this.#request.memory.format.role(message) !== "assistant") return false;
    return messages
      .toolCalls(message)
      .some(({ name }) => tools.has(name) && tools.get(name)?.idempotent !== true);
  }

  /** The user's message under the caller's id, as long as nothing is stored after it. */
  #question(): Entry<M> | undefined {
    const { user, id } = this.#request;
    return id === undefined || this.#steps.length > 0 ? undefined : entry(user, { id });
  }

  /** A result that cannot be read may be an error. */
  #isImmediate({ calls, results, isUnread }: Step<M>): boolean {
    if (calls.length === 0 || isUnread || !results.every((result) => result?.isError === false)) return false;
    const behaviors = calls.map(({ name }) => this.#setup.tools.get(name)?.returnBehavior ?? "model");
    return behaviors.at(-1) === "immediate-if-last" || !behaviors.includes("model");
  }

  /** Takes back what must be taken back; returns the error that the turn ends with. */
  async #ended(error: unknown): Promise<unknown> {
    const { signal, memoryId } = this.#request;
    const cause = signal.aborted ? abortedError(signal) : error;
    if (this.#setup.keepFailedTurns || this.#isForeign) return cause;
    try {
      await this.#undo();
      return cause;
    } catch (undoing) {
      if (this.#isForeign || this.#deleted !== undefined) return cause;
      return new AssistantError(
        "UNDO_FAILED",
        `A turn of memory ${JSON.stringify(memoryId)} failed, and then the store when the turn was to be taken back; ` +
          "errors has both. Asked again with the same id, the turn goes on from what is stored.",
        { cause, errors: [cause, undoing], details: { memoryId } },
      );
    }
  }

  /** If a tool has run, the turn stays and every call gets a result; else only other processes' steps stay. */
  async #undo(): Promise<void> {
    const { id } = this.#request;
    const hasRun = this.#begun.size > 0 || this.#steps.some((step) => step.stored && step.calls.length > 0);
    if (!hasRun) return id === undefined ? this.#takeBack() : this.#takeBackUnlessShared(id);
    for (const step of this.#steps) {
      for (const [place, call] of step.calls.entries()) {
        if (step.results[place] !== undefined) continue;
        const text = this.#failed.has(call)
          ? errorText(this.#failed.get(call))
          : step.stored || this.#begun.has(call)
            ? interrupted
            : notBegun;
        await this.#storeResult(step, place, resultOf(call, text, true));
      }
    }
  }

  async #takeBack(options?: RemovalOptions): Promise<void> {
    for (const own of this.#messageIds.toReversed()) await this.#request.memory.remove(own, options);
  }

  /** Another process may store a step of the turn at any time, which makes the question its own. */
  async #takeBackUnlessShared(id: string): Promise<void> {
    const { memory } = this.#request;
    for (;;) {
      // A look: any later write by others is then a conflict, even if the view cannot be shown.
      await memory.messages().catch(() => undefined);
      if (await isShared(memory, id, this.#messageIds)) return;
      try {
        return await this.#takeBack({ onConflict: "throw" });
      } catch (error) {
        if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
      }
    }
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
    const last = this.#steps.at(-1) as Step<M>;
    const text = given ?? this.#setup.messages.text(last.message);
    // An answer that was found in the store has not been reported yet.
    if (last.stored && text !== "") this.#request.emit?.({ type: "text", text });
    return {
      text,
      finishReason,
      id: this.#id,
      memoryId: this.#request.memoryId,
      messages: this.#steps.map(({ message }) => message),
      toolResults: this.#steps.flatMap(({ results }) => results.filter((each) => each !== undefined)),
      usage: { ...this.#usage },
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

/** A missing or invalid count adds nothing. */
function tokensOf(count: number | undefined): number {
  return Number.isFinite(count) ? (count as number) : 0;
}
