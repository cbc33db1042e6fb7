import type { ChatMemory } from "../chat-memory.ts";
import { invalidOption } from "../errors.ts";
import type { PutOptions } from "../memory-call-options.ts";
import type { DataChange } from "../memory-data.ts";
import type { Entry } from "../memory-entry.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { elsewhere } from "../option-checks.ts";
import { type Fields, takeOptions } from "../option-fields.ts";
import { checkMessageId } from "../stores/checks.ts";
import { addAll, mayBeRepeated, withoutRepeated } from "./add.ts";
import { checkExists, type MustExist } from "./anchor.ts";
import type { Attempt } from "./attempt.ts";
import { checkReplacement, compactThrough, putMessage, replaceAll } from "./change.ts";
import { decodeData, encodeData } from "./data.ts";
import type { Prepared } from "./draft.ts";
import { prepare, prepareAll, prepareInstruction } from "./prepare.ts";
import { removal } from "./remove.ts";
import { restoreTo } from "./restore.ts";
import { rewindTo } from "./rewind.ts";
import type { Plan } from "./session.ts";
import { underStoredIds } from "./shown-calls.ts";
import type { Views } from "./views.ts";

/** A change of a memory: alone what a call commits, or one of several that a transaction commits together. */
export interface Change<M, T = unknown> {
  readonly plan: Plan<M, T>;
  /** What it adds, or puts in the place of others, as this instance's answer to what it was shown. */
  readonly said?: readonly Prepared<M>[];
  /** Whether it replaces what its caller has looked at, and nothing else. */
  readonly looks?: boolean;
  /** Whether it evicts nothing, whatever the limits are. */
  readonly ignoresLimits?: boolean;
}

/** What `compact` is asked for. */
export type CompactRequest<M> = Parameters<ChatMemory<M>["compact"]>[0];

const compactFields = {
  through: elsewhere,
  replacement: elsewhere,
} satisfies Fields<CompactRequest<never>>;

/** A change that brings messages, with their ids. */
interface Bringing<M, T> extends Change<M, T> {
  readonly ids: readonly string[];
}

/** Makes changes of what the calls of one memory are given, checked and prepared before anything is written. */
export class Changes<M> {
  readonly #settings: MemorySettings<M>;
  readonly #views: Views<M>;

  constructor(settings: MemorySettings<M>, views: Views<M>) {
    this.#settings = settings;
    this.#views = views;
  }

  /** The messages as they are to be added. */
  prepare(messages: readonly (M | Entry<M>)[]): readonly Prepared<M>[] {
    return this.#views.underTools(prepareAll(messages, this.#settings.reader));
  }

  prepareInstruction(message: M | Entry<M>): readonly Prepared<M>[] {
    return this.#views.underTools([prepareInstruction(message, this.#settings.reader)]);
  }

  /** Adds messages, except those that were added before; comes to the ids of all. */
  add(prepared: readonly Prepared<M>[]): Change<M, string[]> {
    const plan = (attempt: Attempt<M>): string[] | Promise<string[]> => {
      const stored = underStoredIds(prepared, attempt.loaded.live, this.#settings);
      if (!mayBeRepeated(stored)) return this.#append(stored, stored, attempt);
      return this.#appendFresh(stored, attempt);
    };
    return { plan, said: prepared };
  }

  /** Leaves out what the store has already. */
  async #appendFresh(stored: readonly Prepared<M>[], attempt: Attempt<M>): Promise<string[]> {
    return this.#append(stored, await withoutRepeated(stored, attempt), attempt);
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
  put(
    id: string,
    message: M | Entry<M>,
    { mustExist, replaces }: PutOptions<M> & { readonly mustExist: MustExist },
  ): Change<M, void> {
    const { reader } = this.#settings;
    const replaced = replaces === undefined ? undefined : prepare(replaces, reader);
    checkMessageId(id); // A forgotten one would add the message anew each time.
    const given = prepare(message, reader, id);
    const [prepared = given] = this.#views.underTools([given]);
    const plan = async (attempt: Attempt<M>): Promise<void> => {
      if (mustExist !== true) await checkExists(mustExist, attempt);
      const [stored = prepared] = underStoredIds([prepared], attempt.loaded.live, this.#settings);
      const isBehind = this.#views.isBehind(attempt.loaded, [stored]);
      await putMessage(attempt, stored, { mustExist: mustExist === true, replaced });
      if (isBehind) partFromView(attempt, [stored]);
    };
    return { plan, said: [prepared] };
  }

  set(messages: readonly (M | Entry<M>)[]): Bringing<M, string[]> {
    if (!Array.isArray(messages) || messages.length === 0) {
      throw invalidOption("set needs an array of at least one message. To delete all, call clear().");
    }
    const prepared = prepareAll(messages as readonly (M | Entry<M>)[], this.#settings.reader);
    const ids = prepared.map(({ id }) => id);
    return { plan: (attempt) => replaceAll(attempt, prepared), ids, looks: true };
  }

  compact(request: CompactRequest<M>): Bringing<M, string> {
    takeOptions("compact's argument", compactFields, request as CompactRequest<never>);
    const { through, replacement } = request;
    const prepared = prepare(replacement, this.#settings.reader);
    checkReplacement(prepared, this.#settings);
    const plan = (attempt: Attempt<M>): Promise<string> => {
      attempt.draft.reason = "compact";
      return compactThrough(attempt, through, prepared);
    };
    return { plan, ids: [prepared.id] };
  }

  /** Replaces what is said about the conversation. */
  update(change: DataChange): Change<M, void> {
    const { memoryId } = this.#settings;
    const fixed = typeof change === "function" ? undefined : encodeData(change);
    const plan = ({ draft }: Attempt<M>): void => {
      draft.data =
        typeof change === "function" ? encodeData(change(decodeData(memoryId, draft.data))) : fixed;
    };
    return { plan, ignoresLimits: true };
  }

  rewind(messageId: string): Change<M, void> {
    return { plan: (attempt) => rewindTo(attempt, messageId) };
  }

  restore(messageId: string): Change<M, void> {
    return { plan: (attempt) => restoreTo(attempt, messageId) };
  }

  remove(messageId: string, only: boolean): Change<M, string[]> {
    return { plan: removal(messageId, only), ignoresLimits: true };
  }
}

/** All of them as one change: each is made on what the one before has left. */
export function inOrder<M>(changes: readonly Change<M>[]): Change<M> {
  const [first] = changes;
  if (first !== undefined && changes.length === 1) return first;
  return {
    said: changes.flatMap(({ said = [] }) => said),
    looks: changes.some(({ looks }) => looks === true),
    ignoresLimits: changes.every(({ ignoresLimits }) => ignoresLimits === true),
    async plan(attempt) {
      const { draft, loaded } = attempt;
      let next = attempt;
      draft.mark();
      for (const { plan } of changes) {
        await plan(next);
        draft.nextChange();
        next = { ...attempt, loaded: draft.loaded(loaded.version) };
      }
    },
  };
}

/** Reasoning made after something else than what precedes it now is bound to what will not be sent with it. */
function partFromView<M>({ draft, settings }: Attempt<M>, messages: readonly Prepared<M>[]): void {
  const { format } = settings.reader;
  const isBound = ({ id, facts }: Prepared<M>): boolean =>
    format.hasReasoning(facts.message) && (draft.live.byId.get(id)?.meta.epoch ?? 0) === draft.epoch;
  if (messages.some(isBound)) draft.raiseEpoch();
}
