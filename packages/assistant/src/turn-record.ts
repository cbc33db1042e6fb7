import { type ChatMemory, entry, isTurnkeepError, type RemovalOptions } from "@turnkeep/core";
import type { AssistantError } from "./errors.ts";
import type { Setup } from "./setup.ts";
import {
  addAlone,
  addBehind,
  deleted,
  idIn,
  isShared,
  overtaken,
  type StoredTurn,
  standsBefore,
} from "./stored-turn.ts";

/** Whose turn is recorded, and where. */
interface Recorded<M> {
  readonly memory: ChatMemory<M>;
  /** The caller's own id for the user's message. */
  readonly id: string | undefined;
  readonly signal: AbortSignal;
}

/** How one message is stored. */
export interface RecordOptions {
  readonly model?: string | undefined;
  /** Throws if the message must not be added to the memory as it is: see {@link addAlone}. */
  readonly check?: (() => Promise<void>) | undefined;
  /** Set for what is kept of an answer that was stopped. */
  readonly isAborted?: boolean | undefined;
}

/** Stores the messages of one turn, and takes them back. */
export class TurnRecord<M> {
  readonly #setup: Setup<M>;
  readonly #turn: Recorded<M>;
  #questionId = "";
  #messageIds: string[] = [];
  #newestIds: string[] = [];
  #count = 0;
  /** Another process runs this turn too, so what it has stored must not be taken back. */
  #isForeign = false;
  /** Somebody has deleted the conversation: what has begun anew since is another one. */
  #deleted: AssistantError | undefined;

  constructor(setup: Setup<M>, turn: Recorded<M>) {
    this.#setup = setup;
    this.#turn = turn;
  }

  /** The ids of the turn's newest answer and of what is stored behind it. */
  get newestIds(): readonly string[] {
    return this.#newestIds;
  }

  get isForeign(): boolean {
    return this.#isForeign;
  }

  get isDeleted(): boolean {
    return this.#deleted !== undefined;
  }

  /** Stores the beginning of the turn; returns the id of the user's message. */
  async begin(system: M | undefined, user: M): Promise<string> {
    const { memory, id } = this.#turn;
    const messages = [...(system === undefined ? [] : [system]), entry(user, { id })];
    const [userId] = (await memory.add(...messages)).slice(-1);
    this.#questionId = userId as string;
    this.#messageIds = [this.#questionId];
    return this.#questionId;
  }

  /** Goes on behind what is stored. */
  continue(stored: StoredTurn<M>): void {
    // A question that was answered before, and is answered anew, is not this turn's to take back.
    if (stored.count > 0) this.#messageIds = [];
    this.#messageIds.push(...stored.messageIds);
    this.#newestIds = [...stored.newestIds];
    this.#count = stored.count;
  }

  /**
   * Uses an id made from the caller's, so that if two processes run the turn at once, only the first stores an answer;
   * the other gets `ID_CONFLICT`.
   */
  async store(message: M, options: RecordOptions = {}): Promise<void> {
    if (this.#deleted !== undefined) throw this.#deleted;
    const { memory, id, signal } = this.#turn;
    const { model, check, isAborted = false } = options;
    const own = this.#idFor(isAborted);
    try {
      const entries = [entry(message, { id: own, model })];
      const stored =
        own !== undefined && (check !== undefined || this.#mustRunOnce(message))
          ? await addAlone(memory, own, entries, { signal, check })
          : await addBehind(memory, entries);
      this.#messageIds.push(...stored);
      if (memory.format.role(message) === "assistant") this.#newestIds = [];
      this.#newestIds.push(...stored);
    } catch (error) {
      if (isTurnkeepError(error, "NOT_FOUND")) {
        this.#deleted = deleted(memory.id, error);
        throw this.#deleted;
      }
      if (id === undefined || own === undefined || !isTurnkeepError(error, "ID_CONFLICT")) throw error;
      if (await standsBefore(memory, own, id)) return this.store(message, options);
      this.#isForeign = true;
      throw overtaken(memory.id, id, error);
    }
  }

  /** What was stopped is marked, also in a turn whose other messages have ids of the memory's own. */
  #idFor(isAborted: boolean): string | undefined {
    const { id } = this.#turn;
    if (id === undefined && !isAborted) return undefined;
    return idIn(id ?? this.#questionId, this.#count++, isAborted);
  }

  /** Two processes may get the same answer, from a cache for example: only the one that stores it runs its tools. */
  #mustRunOnce(message: M): boolean {
    const { messages, tools } = this.#setup;
    if (this.#turn.memory.format.role(message) !== "assistant") return false;
    return messages
      .toolCalls(message)
      .some(({ name }) => tools.has(name) && tools.get(name)?.idempotent !== true);
  }

  /** Removes the turn, except for steps of other processes. */
  takeBack(): Promise<void> {
    const { id } = this.#turn;
    return id === undefined ? this.#remove() : this.#removeUnlessShared(id);
  }

  async #remove(options?: RemovalOptions): Promise<void> {
    for (const own of this.#messageIds.toReversed()) await this.#turn.memory.remove(own, options);
  }

  /** Another process may store a step of the turn at any time, which makes the question its own. */
  async #removeUnlessShared(id: string): Promise<void> {
    const { memory } = this.#turn;
    for (;;) {
      // A look: any later write by others is then a conflict, even if the view cannot be shown.
      await memory.messages().catch(() => undefined);
      if (await isShared(memory, id, this.#messageIds)) return;
      try {
        return await this.#remove({ onConflict: "throw" });
      } catch (error) {
        if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
      }
    }
  }
}
