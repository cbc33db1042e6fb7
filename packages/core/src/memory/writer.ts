import type { MemorySettings } from "../memory-settings.ts";
import { addAll, mayBeRepeated, withoutRepeated } from "./add.ts";
import { checkExists, type MustExist } from "./anchor.ts";
import type { Attempt } from "./attempt.ts";
import { putMessage } from "./change.ts";
import type { Call } from "./deadline.ts";
import type { Draft, Prepared } from "./draft.ts";
import type { Base, Plan, Session } from "./session.ts";
import { underStoredIds } from "./shown-calls.ts";
import { Summarizer, waitFor } from "./summarizer.ts";
import type { Views } from "./views.ts";

/** What a change depends on besides what it does. */
interface ChangeOptions {
  /** The state that the change must be based on, if it may be made on no other. */
  readonly base?: Base | ((call: Call) => Promise<Base>) | undefined;
  /** Why the change moves messages out of memory. */
  readonly reason?: "window" | "compact" | "shrink";
  /** Called once it is made, before the next call of the memory begins. */
  readonly made?: () => void;
}

/** What adding messages depends on. */
interface AddOptions {
  readonly signal?: AbortSignal | undefined;
  readonly mustExist?: MustExist | undefined;
  readonly base?: Base | undefined;
}

/** What putting a message in its place depends on. */
interface PutCall<M> {
  readonly signal: AbortSignal | undefined;
  readonly mustExist: MustExist;
  readonly replaced: Prepared<M> | undefined;
}

/** Makes the changes of one memory, and what follows from them: events, and summaries of what leaves. */
export class Writer<M> {
  readonly #settings: MemorySettings<M>;
  readonly #session: Session<M>;
  readonly #views: Views<M>;
  readonly #summarizer: Summarizer<M> | undefined;

  constructor(settings: MemorySettings<M>, session: Session<M>, views: Views<M>) {
    this.#settings = settings;
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

  /** Makes a change, reports what left memory by it, and waits for a summary that it made due. */
  change<T>(
    signal: AbortSignal | undefined,
    plan: Plan<M, T>,
    { base, reason = "window", made }: ChangeOptions = {},
  ): Promise<T> {
    const session = this.#session;
    let work: Promise<void> | undefined;
    const change = session.run(signal, async (call) => {
      const asked = this.#views.limits(call);
      const limits = asked instanceof Promise ? await asked : asked;
      let draft: Draft<M> | undefined;
      const planned = await session.commit(
        call,
        (attempt) => {
          draft = attempt.draft;
          return plan(attempt);
        },
        { limits, base: typeof base === "function" ? await base(call) : base },
      );
      made?.();
      const { evictedIds = [], awaitsSummary } = draft ?? {};
      if (evictedIds.length > 0) session.emit({ type: "evicted", messageIds: evictedIds, reason });
      if (awaitsSummary !== undefined) work = this.#summarizer?.begin(awaitsSummary, signal);
      return planned;
    });
    if (this.#summarizer === undefined) return change;
    return change.then(async (result) => {
      if (work !== undefined) await waitFor(work, signal);
      return result;
    });
  }

  /** Adds messages, except those that were added before; returns the ids of all. */
  add(given: readonly Prepared<M>[], { signal, base, mustExist }: AddOptions = {}): Promise<string[]> {
    const prepared = this.#views.underTools(given);
    const add = (attempt: Attempt<M>): string[] | Promise<string[]> => {
      const stored = underStoredIds(prepared, attempt.loaded.live, this.#settings);
      if (mustExist === undefined && !mayBeRepeated(stored)) return this.#append(stored, stored, attempt);
      return this.#addFresh(stored, mustExist, attempt);
    };
    return this.change(signal, add, { base, made: () => this.#views.added(prepared) });
  }

  /** Leaves out what the store has already. */
  async #addFresh(
    stored: readonly Prepared<M>[],
    mustExist: MustExist | undefined,
    attempt: Attempt<M>,
  ): Promise<string[]> {
    if (mustExist !== undefined) await checkExists(mustExist, attempt);
    const fresh = await withoutRepeated(stored, attempt);
    return this.#append(stored, fresh, attempt);
  }

  #append(stored: readonly Prepared<M>[], fresh: readonly Prepared<M>[], attempt: Attempt<M>): string[] {
    const isBehind = this.#views.isBehind(attempt.loaded, fresh);
    const added = addAll(attempt, fresh);
    if (isBehind) partFromView(attempt, fresh);
    if (fresh === stored) return added;
    const ids = new Map(fresh.map((message, index) => [message, added[index]]));
    return stored.map((message) => ids.get(message) ?? message.id);
  }

  /** Adds a message, or puts it in the place of the one with its id. */
  put(given: Prepared<M>, { signal, mustExist, replaced }: PutCall<M>): Promise<void> {
    const [prepared = given] = this.#views.underTools([given]);
    const put = async (attempt: Attempt<M>): Promise<void> => {
      if (mustExist !== true) await checkExists(mustExist, attempt);
      const [stored = prepared] = underStoredIds([prepared], attempt.loaded.live, this.#settings);
      const isBehind = this.#views.isBehind(attempt.loaded, [stored]);
      await putMessage(attempt, stored, { mustExist: mustExist === true, replaced });
      if (isBehind) partFromView(attempt, [stored]);
    };
    return this.change(signal, put, { made: () => this.#views.added([prepared]) });
  }
}

/** Reasoning made after something else than what precedes it now is bound to what will not be sent with it. */
function partFromView<M>({ draft, settings }: Attempt<M>, messages: readonly Prepared<M>[]): void {
  const { format } = settings.reader;
  const isBound = ({ id, facts }: Prepared<M>): boolean =>
    format.hasReasoning(facts.message) && (draft.live.byId.get(id)?.meta.epoch ?? 0) === draft.epoch;
  if (messages.some(isBound)) draft.raiseEpoch();
}
