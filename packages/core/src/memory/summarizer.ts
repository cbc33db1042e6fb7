import { orAborted } from "../abort.ts";
import { endedOrDropped, graceMs } from "../call-queue.ts";
import { isTurnkeepError } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { applyProcessors } from "../processors/apply-processors.ts";
import type { Limits } from "../window/limits.ts";
import { planWindow } from "../window/plan.ts";
import type { Summarize, SummarizeFailure } from "../window-options.ts";
import type { Attempt } from "./attempt.ts";
import { type Call, withDeadline } from "./deadline.ts";
import type { Prepared } from "./draft.ts";
import { evictAll } from "./evict.ts";
import type { Session } from "./session.ts";
import { acceptSummary, planSummary, putSummary, type SummaryPlan } from "./summary.ts";

/** How often a summary may come too late before what does not fit leaves without one. */
const maxConflicts = 3;

/** The most occasions in a row at which the summarizer is not asked. */
const longestRest = 15;

/** Four steps, each within `timeoutMs`: look, ask, store the summary, evict what leaves without one. */
const stepsOfLook = 4;

/** What a memory needs to summarize the messages that its window evicts. */
export interface SummarizerOptions<M> {
  readonly settings: MemorySettings<M>;
  readonly session: Session<M>;
  readonly limits: (call: Call) => Limits | Promise<Limits>;
}

/**
 * Summarizes what a memory's window evicts: one summary at a time, while the memory's calls go on. Messages leave only
 * in the change that adds their summary. The outcome is an event.
 */
export class Summarizer<M> {
  readonly #options: SummarizerOptions<M>;
  readonly #summarize: Summarize<M>;
  #running: Promise<void> | undefined;
  /** How often work began, and when the running work last looked at what there is to do. */
  #begun = 0;
  #looked = 0;
  #failures = 0;
  #rests = 0;

  constructor(options: SummarizerOptions<M>, summarize: Summarize<M>) {
    this.#options = options;
    this.#summarize = summarize;
  }

  /** The running work, if any. It never rejects. */
  get running(): Promise<void> | undefined {
    const work = this.#running;
    return work && endedOrDropped(work, () => this.#left());
  }

  /** How long until the running work must have looked again; after that, the runtime has dropped it with its timers. */
  #left(): number {
    const { timeoutMs } = this.#options.settings;
    return this.#looked + stepsOfLook * (timeoutMs + graceMs) - performance.now();
  }

  /** Starts the work that is due, `early` or now. Returns what the caller has to wait for. */
  begin(when: "now" | "early", signal: AbortSignal | undefined): Promise<void> | undefined {
    const { waitUntil } = this.#options.settings.window;
    const begins = this.#running === undefined || this.#left() <= 0;
    if (begins) this.#running = this.#summarizeAll(when === "early", signal, ++this.#begun);
    if (waitUntil === undefined) return this.running;
    try {
      if (begins) waitUntil(this.#running as Promise<void>);
      return undefined;
    } catch {
      // `waitUntil` may throw outside a request; then the call itself keeps the process alive.
      return this.running;
    }
  }

  /**
   * Continues until everything fits, including what others add meanwhile. It ends before any add that follows its last
   * look is stored, so such an add finds no running work and starts anew.
   */
  async #summarizeAll(isEarly: boolean, signal: AbortSignal | undefined, begun: number): Promise<void> {
    let plan: SummaryPlan<M> | undefined;
    try {
      for (let conflicts = 0, early = isEarly; ; ) {
        plan = await this.#plan(early);
        if (plan === undefined) return;
        if (this.#rests > 0) {
          this.#rests--;
          break;
        }
        const failure = await this.#summarizeOnce(plan, signal);
        if (failure === undefined) {
          early = false;
          continue;
        }
        this.#emitFailure(plan, failure);
        if (failure !== "conflict" || ++conflicts === maxConflicts) break;
      }
      await this.#evict();
    } catch {
      // Nothing has left: the view hides what does not fit, and the next add tries again.
      this.#emitFailure(plan, "store");
    } finally {
      if (begun === this.#begun) this.#running = undefined;
    }
  }

  #plan(early: boolean): Promise<SummaryPlan<M> | undefined> {
    const { settings, session } = this.#options;
    this.#looked = performance.now();
    return session.finish(undefined, async (call) => {
      const limits = await this.#options.limits(call);
      const { live } = await session.lastKnown(call);
      return planSummary(live, settings, limits, early);
    });
  }

  /** One summary, from asking to storing. Returns why it failed. */
  async #summarizeOnce(
    plan: SummaryPlan<M>,
    signal: AbortSignal | undefined,
  ): Promise<SummarizeFailure | undefined> {
    if (plan.refusal !== undefined) return plan.refusal;
    const { answer, failure } = await this.#ask(plan, signal);
    const summary = failure ?? acceptSummary(answer, plan, this.#options.settings);
    if (summary === "aborted") return summary;
    if (typeof summary === "string") return this.#failed(summary);
    try {
      const isPut = await this.#put(plan, summary);
      this.#failures = 0;
      return isPut ? undefined : "conflict";
    } catch (error) {
      if (isTurnkeepError(error, "MESSAGE_TOO_LARGE") || isTurnkeepError(error, "MEMORY_FULL")) {
        return this.#failed("too-long");
      }
      throw error;
    }
  }

  #failed(reason: SummarizeFailure): SummarizeFailure {
    this.#failures++;
    this.#rests = Math.min(2 ** (this.#failures - 1) - 1, longestRest);
    return reason;
  }

  /** Returns whether the summary has replaced the messages it was made of. */
  async #put(plan: SummaryPlan<M>, summary: Prepared<M>): Promise<boolean> {
    const { session } = this.#options;
    const made = await this.#change((attempt) => {
      const item = putSummary(attempt, plan, summary);
      return item && { summaryId: item.id, messageIds: attempt.draft.parts.movedIds().window ?? [] };
    });
    if (made === undefined) return false;
    session.emit({ type: "summarized", ...made });
    return true;
  }

  async #ask(
    { messages, previous, maxSize }: SummaryPlan<M>,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly answer?: M | undefined; readonly failure?: SummarizeFailure }> {
    const { settings } = this.#options;
    const { memoryId, timeoutMs } = settings;
    const isCounted = settings.reader.counter !== undefined;
    const size = {
      maxTokens: isCounted ? maxSize : undefined,
      maxCharacters: isCounted ? undefined : maxSize,
    };
    let ended: AbortSignal | undefined;
    try {
      const answer = await withDeadline({ timeoutMs, signal }, async (call) => {
        ended = call.signal;
        const evicted = await this.#processed(messages, ended);
        if (evicted.length === 0) return undefined;
        const [earlier] = previous === undefined ? [] : await this.#processed([previous], ended);
        return this.#summarize(evicted, { memoryId, signal: ended, previous: earlier, ...size });
      });
      return { answer };
    } catch {
      if (signal?.aborted === true) return { failure: "aborted" };
      return { failure: ended?.aborted === true ? "timeout" : "error" };
    }
  }

  /** The summarizer must not see what the model must not. Other processors would find other neighbours here. */
  #processed(messages: readonly M[], signal: AbortSignal): Promise<M[]> {
    const { processors, reader } = this.#options.settings;
    const eachAlone = processors.filter((processor) => processor.eachAlone === true);
    return applyProcessors<M>(messages, eachAlone, { format: reader.format, signal });
  }

  /** Evicts what does not fit, without a summary; what fits stays. */
  async #evict(): Promise<void> {
    await this.#change(({ draft, settings, limits }) => {
      evictAll(draft, planWindow(draft.live, settings, limits).evict);
    });
  }

  /** Makes a change of its own. */
  #change<T>(plan: (attempt: Attempt<M>) => T): Promise<T> {
    const { session, limits } = this.#options;
    return session.finish(undefined, async (call) =>
      session.commit(call, plan, { limits: await limits(call) }),
    );
  }

  #emitFailure(plan: SummaryPlan<M> | undefined, reason: SummarizeFailure): void {
    const messageIds = (plan?.items ?? []).map((item) => item.id);
    this.#options.session.emit({ type: "summarize-failed", messageIds, reason });
  }
}

/** Waits for a summary until it is there, or the signal ends the wait. Never rejects. */
export function waitFor(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  return signal === undefined ? work : orAborted(work, signal).catch(() => undefined);
}
