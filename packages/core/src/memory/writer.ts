import { quoted } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { unlimited } from "../window/limits.ts";
import { checkExists, type MustExist } from "./anchor.ts";
import type { Change } from "./changes.ts";
import type { Call } from "./deadline.ts";
import type { Draft } from "./draft.ts";
import type { Base, Plan, Session } from "./session.ts";
import { Summarizer, waitFor } from "./summarizer.ts";
import type { Views } from "./views.ts";

/** What a change depends on besides what it does. */
interface CommitOptions {
  readonly signal?: AbortSignal | undefined;
  readonly mustExist?: MustExist | undefined;
  /** The state that the change must be based on, if it may be made on no other; `looked`: what its caller last looked at. */
  readonly base?: Base | "looked" | undefined;
}

/** Makes the changes of one memory, and what follows from them: events, and summaries of what leaves. */
export class Writer<M> {
  readonly #session: Session<M>;
  readonly #views: Views<M>;
  readonly #summarizer: Summarizer<M> | undefined;

  constructor(settings: MemorySettings<M>, session: Session<M>, views: Views<M>) {
    this.#session = session;
    this.#views = views;
    const { summarize } = settings.window;
    const work = { settings, session, limits: (call: Call) => views.limits(call) };
    this.#summarizer = summarize === undefined ? undefined : new Summarizer(work, summarize);
  }

  /** The summary that is being made, if one is. It never rejects. */
  get summary(): Promise<void> | undefined {
    return this.#summarizer?.running;
  }

  /** Makes a change, and waits for a summary that it made due. */
  commit<T>(
    { plan, said, ignoresLimits }: Change<M, T>,
    { signal, mustExist = false, base }: CommitOptions = {},
  ): Promise<T> {
    const session = this.#session;
    const bound = mustExist === false ? plan : boundTo(mustExist, plan);
    let work: Promise<void> | undefined;
    const change = session.run(signal, async (call) => {
      const asked = ignoresLimits === true ? unlimited : this.#views.limits(call);
      const limits = asked instanceof Promise ? await asked : asked;
      let draft: Draft<M> | undefined;
      const planned = await session.commit(
        call,
        (attempt) => {
          draft = attempt.draft;
          return bound(attempt);
        },
        { limits, base: base === "looked" ? await session.lookedAt(call) : base },
      );
      if (said !== undefined) this.#views.added(said);
      const { replacedPrompts = [], awaitsSummary } = draft ?? {};
      if (replacedPrompts.length > 0) session.emit(replacedWarning(replacedPrompts));
      if (awaitsSummary !== undefined) work = this.#summarizer?.begin(awaitsSummary, signal);
      return planned;
    });
    if (this.#summarizer === undefined) return change;
    return change.then(async (result) => {
      if (work !== undefined) await waitFor(work, signal);
      return result;
    });
  }
}

function boundTo<M, T>(mustExist: MustExist, plan: Plan<M, T>): Plan<M, T> {
  return async (attempt) => {
    await checkExists(mustExist, attempt);
    return plan(attempt);
  };
}

function replacedWarning(ids: readonly string[]): { type: "warning"; code: string; message: string } {
  const message =
    `A system message took the place of ${ids.map(quoted).join(", ")} (systemMessages: "one"). To keep both where they ` +
    'were said, set systemMessages to "positioned"; to replace the prompt on purpose, call instruct.';
  return { type: "warning", code: "system-replaced", message };
}
