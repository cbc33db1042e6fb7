import type { ChatMiddlewareConfig, ChatMiddlewareContext, ModelMessage } from "@tanstack/ai";
import { type Anchor, type ChatMemory, entry } from "@turnkeep/core";
import { invalidOption, quoted } from "@turnkeep/core/store-kit";
import { type Alignment, align } from "./alignment.ts";
import {
  type CutOff,
  checkQuestion,
  cutOffMark,
  isCutOff,
  isPlaceholder,
  isQuestion,
  isSaidByModel,
  isSame,
  isWhole,
  keysOf,
  withoutOldCalls,
  wordsOf,
} from "./messages.ts";
import { type Recorded, recordOf } from "./record.ts";

type Step = Pick<ChatMiddlewareContext, "accumulatedContent" | "currentMessageId">;

interface Stored {
  readonly id: string;
  readonly message: ModelMessage;
}

/**
 * One call of `chat`: stores what it says, each message once. The engine holds the same objects from step to step, so these
 * are known without a look at the store. An object that takes the place of another, such as a result that was stored before
 * the engine had made its own, is known by the call that it answers, or by its id.
 */
export class Run {
  readonly #memory: ChatMemory<ModelMessage>;
  readonly #known: WeakSet<ModelMessage> = new WeakSet();
  readonly #stored: Map<string, Stored> = new Map();
  /** The question that is being answered, and what the answers are bound to: that it is still there. */
  #questionId: string | undefined;
  #anchor: Anchor | undefined;
  /** Of the step under way: whether the model calls tools, and whether its answer is stored. */
  #isCalling = false;
  #isSaid = false;

  constructor(memory: ChatMemory<ModelMessage>) {
    this.#memory = memory;
  }

  /** Stores what is new of the messages given, and answers the record, which is what the engine works with. */
  async begin(messages: readonly ModelMessage[]): Promise<ModelMessage[]> {
    const given = messages.filter((message) => !isPlaceholder(message));
    given.filter(isQuestion).forEach(checkQuestion);
    const record = await recordOf(this.#memory);
    const { known, added } = align(given, record);
    const kept = record.filter(({ state }) => state !== "superseded");
    const last = given.at(-1);
    if (added.length === 0 && !(last && isQuestion(last))) this.#checkOpen(kept.at(-1)?.message);
    const question = given.findLast(isQuestion);
    const asked = question ? known.get(question) : kept.findLast(({ message }) => isQuestion(message));
    if (asked !== undefined) await this.#answer(asked.id);
    const revised = await this.#revise(given, known, kept);
    const past = revised.map(({ id, message }) => this.#hold(message, id));
    const ids = await this.#store(added);
    if (question && !asked) await this.#answer(ids[added.indexOf(question)] as string);
    return withoutOldCalls([...past, ...added], (result) => this.#known.add(result));
  }

  /** Without anything new, a run goes on. Asked after an answer that has ended, the model would give another behind it. */
  #checkOpen(newest: ModelMessage | undefined): void {
    if (newest === undefined || !isWhole(newest) || isCutOff(newest)) return;
    throw invalidOption(
      `Conversation ${quoted(this.#memory.id)} is answered, and chat was given nothing new. Read the answer from the ` +
        "memory's history, or give the question again, to have another one in its place.",
    );
  }

  /** A step begins: the model is about to be asked. */
  next(): void {
    this.#isCalling = false;
    this.#isSaid = false;
  }

  /** The model calls a tool: its answer is stored with its calls, before any of them runs. */
  calls(): void {
    this.#isCalling = true;
  }

  /**
   * Stores what of the engine's messages is not stored yet, and what has changed of those that are. The engine adds answers and
   * results, behind all that was said before: what another middleware has put there besides is not stored.
   */
  async keep(messages: readonly ModelMessage[]): Promise<void> {
    const added: ModelMessage[] = [];
    const changed: Stored[] = [];
    const newest = messages.findLastIndex((message) => this.#isOld(message));
    for (const [at, message] of messages.entries()) {
      if (this.#known.has(message)) continue;
      const [key] = keysOf(message);
      const stored = this.#stored.get(key ?? "");
      if (stored !== undefined && !messages.includes(stored.message)) {
        if (!isSame(stored.message, message)) changed.push({ id: stored.id, message });
        this.#hold(message, stored.id);
      } else if (isSaidByModel(message) && (key !== undefined || at > newest)) added.push(message);
    }
    await this.#store(added, changed);
  }

  #isOld(message: ModelMessage): boolean {
    const [key] = keysOf(message);
    return (
      this.#known.has(message) || !isSaidByModel(message) || (key !== undefined && this.#stored.has(key))
    );
  }

  /** The model has ended its answer: without calls, it is stored before the client is told. */
  async said(step: Step): Promise<void> {
    if (!this.#isCalling) await this.#say(step);
  }

  /** Keeps what was said of an answer that was cut off, without its calls, and marks it. */
  async cutOff(step: Step, status: CutOff): Promise<void> {
    await this.#say(step, cutOffMark(status));
  }

  /** What the model is shown: copies, which it may write into. What others have put into the request alone stands last. */
  async view({ messages, providerMessages = messages }: ChatMiddlewareConfig): Promise<ModelMessage[]> {
    const own = new Set(messages);
    const extra = providerMessages.filter((message) => !own.has(message));
    const pinned = this.#questionId === undefined ? [] : [this.#questionId];
    const shown = await this.#memory.messages({ extra, pinned, openCalls: "approved" });
    return shown.map((message) => structuredClone(message));
  }

  async #say({ accumulatedContent: content, currentMessageId: id }: Step, mark: object = {}): Promise<void> {
    if (this.#isSaid || content === "") return;
    const named = id === null ? {} : { id };
    await this.#store([{ role: "assistant", content, ...named, createdAt: new Date(), ...mark }]);
  }

  async #answer(questionId: string): Promise<void> {
    this.#questionId = questionId;
    this.#anchor = await this.#memory.anchor(questionId);
  }

  /**
   * A question that was edited under its id takes its place again. Where the newest question is given last, it is asked
   * again: an answer that has ended, or was for other words, is taken back; a run that ended between its steps goes on.
   */
  async #revise(
    given: readonly ModelMessage[],
    known: Alignment["known"],
    kept: readonly Recorded[],
  ): Promise<readonly Recorded[]> {
    const edited = new Map<string, ModelMessage>();
    for (const [message, { id, state, message: before }] of known) {
      const isEdited = isQuestion(message) && wordsOf(message) !== wordsOf(before);
      if (isEdited && state !== "superseded") edited.set(id, message);
    }
    const last = given.at(-1);
    const place = last && isQuestion(last) ? kept.indexOf(known.get(last) as Recorded) : -1;
    const behind = place < 0 ? [] : kept.slice(place + 1);
    const [first] = behind;
    const isAnew =
      first !== undefined &&
      !behind.some(({ message }) => isQuestion(message)) &&
      (edited.has(kept[place]?.id as string) || isWhole(kept.at(-1)?.message as ModelMessage));
    if (edited.size > 0 || isAnew) {
      await this.#memory.transaction(
        (transaction) => {
          for (const [id, message] of edited) transaction.put(id, message);
          if (isAnew) transaction.rewind(first.id);
        },
        { mustExist: this.#anchor },
      );
    }
    const revised = kept.map((recorded) => ({
      ...recorded,
      message: edited.get(recorded.id) ?? recorded.message,
    }));
    return isAnew ? revised.slice(0, place + 1) : revised;
  }

  async #store(added: readonly ModelMessage[], changed: readonly Stored[] = []): Promise<string[]> {
    if (added.length === 0 && changed.length === 0) return [];
    const ids = await this.#memory.transaction(
      (transaction) => {
        for (const { id, message } of changed) transaction.put(id, message);
        // A question's id is the client's, so that one that is sent again is stored once.
        return transaction.add(
          ...added.map((message) => (isQuestion(message) ? entry(message, { id: message.id }) : message)),
        );
      },
      { mustExist: this.#anchor },
    );
    added.forEach((message, at) => {
      this.#hold(message, ids[at] as string);
      if (message.role === "assistant") this.#isSaid = true;
    });
    return ids;
  }

  #hold(message: ModelMessage, id: string): ModelMessage {
    this.#known.add(message);
    const [key] = keysOf(message);
    if (key !== undefined) this.#stored.set(key, { id, message });
    return message;
  }
}
