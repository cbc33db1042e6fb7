import { type Anchor, type ChatMemory, entry, isTurnkeepError, type TurnkeepError } from "@turnkeep/core";
import type { AssistantError } from "./errors.ts";
import type { Setup } from "./setup.ts";
import { type AnswerMark, addAlone, idIn, isShared, type StoredTurn, standsBefore } from "./stored-turn.ts";
import { deleted, overtaken, questionGone } from "./turn-errors.ts";

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
  /** For an answer that must not be taken for a whole one. */
  readonly mark?: AnswerMark | undefined;
}

interface StepIds {
  readonly own: string | undefined;
  readonly rivals: readonly string[];
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
  /** What every write is bound to: the conversation as it began once, and the question in it. */
  #anchor: Anchor | undefined;
  /** The conversation, or the question, is not there any more: what has begun anew since is another one. */
  #lost: AssistantError | TurnkeepError | undefined;

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

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Stores the beginning of the turn; returns the id of the user's message. */
  async begin(system: M | undefined, user: M): Promise<string> {
    const { memory, id } = this.#turn;
    const said = entry(user, { id });
    const [userId] =
      system === undefined
        ? await memory.add(said)
        : await memory.transaction((transaction) => {
            transaction.instruct(system);
            return transaction.add(said);
          });
    this.#messageIds = [userId as string];
    return userId as string;
  }

  /**
   * Binds what is stored from now on to the turn's question. A turn that has stored nothing itself must look first: what
   * this instance knows may be of an earlier life of the conversation. Errors: `NOT_FOUND`.
   */
  async hold(questionId: string, { mustLook }: { readonly mustLook: boolean }): Promise<void> {
    this.#questionId = questionId;
    if (mustLook) await this.#turn.memory.transaction(() => undefined, { onConflict: "throw" });
    this.#anchor = await this.#turn.memory.anchor(questionId);
  }

  /**
   * Why nothing more can be stored of the turn, once the memory has not found what it belongs to, or the turn has lost its
   * lease.
   */
  async lost(cause: TurnkeepError): Promise<AssistantError | TurnkeepError> {
    const { memory } = this.#turn;
    const now = await memory.anchor().catch((error) => {
      if (isTurnkeepError(error, "NOT_FOUND")) return undefined;
      // A lease is lost where the store cannot be reached, too.
      if (cause.code === "TURN_LOST") return this.#anchor;
      throw error;
    });
    const isSameLife = now !== undefined && now.life === (this.#anchor ?? now).life;
    if (!isSameLife) this.#lost = deleted(memory.id, cause);
    else if (cause.code === "TURN_LOST") this.#lost = cause;
    else this.#lost = questionGone(memory.id, this.#questionId, cause);
    return this.#lost;
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
    if (this.#lost !== undefined) throw this.#lost;
    const { memory, id, signal } = this.#turn;
    const { model, check, mark } = options;
    const { own, rivals } = this.#idsFor(message, options);
    try {
      const added = entry(message, { id: own, model });
      const mustExist = this.#anchor ?? true;
      const stored =
        rivals.length > 0
          ? await addAlone(memory, rivals, added, {
              mustExist,
              signal: mark === "aborted" ? undefined : signal,
              check,
            })
          : await memory.transaction((transaction) => transaction.add(added), { mustExist });
      this.#messageIds.push(...stored);
      if (memory.format.role(message) === "assistant") this.#newestIds = [];
      this.#newestIds.push(...stored);
    } catch (error) {
      if (isTurnkeepError(error, "NOT_FOUND")) throw await this.lost(error);
      if (id === undefined || own === undefined || !isTurnkeepError(error, "ID_CONFLICT")) throw error;
      if (await standsBefore(memory, [own, ...rivals], id)) return this.store(message, options);
      this.#isForeign = true;
      throw overtaken(memory.id, id, error);
    }
  }

  /**
   * The message's id, and those under which no other process may have stored the same step. An answer that is not whole is
   * marked, also in a turn whose other messages have ids of the memory's own; each kind of answer is the others' rival.
   */
  #idsFor(message: M, { check, mark }: RecordOptions): StepIds {
    const { memory, id } = this.#turn;
    if (id === undefined && mark === undefined) return { own: undefined, rivals: [] };
    const number = this.#count++;
    const own = idIn(id ?? this.#questionId, number, mark);
    if (id === undefined) return { own, rivals: [] };
    const isAnswer = memory.format.role(message) === "assistant";
    const all = ([undefined, "aborted", "cut"] as const).map((each) => idIn(id, number, each));
    const others = isAnswer ? all.filter((each) => each !== own) : [];
    return { own, rivals: check !== undefined || this.#mustRunOnce(message) ? [own, ...others] : others };
  }

  /** Two processes may get the same answer, from a cache for example: only the one that stores it runs its tools. */
  #mustRunOnce(message: M): boolean {
    const { messages, tools } = this.#setup;
    if (this.#turn.memory.format.role(message) !== "assistant") return false;
    return messages
      .toolCalls(message)
      .some(({ name }) => tools.has(name) && tools.get(name)?.idempotent !== true);
  }

  /**
   * Removes the turn at once, except for steps of other processes, and only while the question is there: whoever has taken
   * it back has seen to the rest.
   */
  async takeBack(): Promise<void> {
    const { memory, id } = this.#turn;
    for (;;) {
      try {
        return await memory.transaction(
          async ({ remove }) => {
            // Another process may store a step of the turn at any time, which makes the question its own.
            if (id !== undefined && (await isShared(memory, id, this.#messageIds))) return;
            for (const own of this.#messageIds.toReversed()) remove(own);
          },
          { onConflict: id === undefined ? "merge" : "throw", mustExist: this.#anchor ?? true },
        );
      } catch (error) {
        if (isTurnkeepError(error, "NOT_FOUND")) throw await this.lost(error);
        if (!isTurnkeepError(error, "VERSION_CONFLICT") || id === undefined) throw error;
      }
    }
  }
}
