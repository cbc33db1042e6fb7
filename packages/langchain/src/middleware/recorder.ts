import { AIMessage, type BaseMessage, coerceMessageLikeToMessage } from "@langchain/core/messages";
import { type Anchor, type ChatMemory, entry, type HistoryMessage } from "@turnkeep/core";
import { CallQueue, despiteConflicts } from "@turnkeep/core/store-kit";
import { copyOf } from "../format/dict.ts";
import { align, type Recorded, wordsOf } from "./alignment.ts";

type Memory = ChatMemory<BaseMessage>;

/** Where a run stands. One that `joins` is of an agent within a graph, which goes on with what others have answered there. */
export type Stage = "begins" | "joins" | "goes on";

/**
 * Stores what runs say, each message once. A run's state holds the same objects from step to step, so these are
 * known without a look at the store; those of a state that was read from elsewhere are compared with the record.
 */
export class Recorder {
  readonly #known: WeakMap<Memory, Known> = new WeakMap();
  /** A question holds on to its memory, so that what is known lasts as long as its run, however many others are loaded. */
  readonly #held: WeakMap<BaseMessage, Memory> = new WeakMap();

  /**
   * Stores what of a state is not stored yet, and what a middleware has changed since. A run that begins with a question
   * alone needs no look at the record. A question that is asked again is answered anew.
   */
  async keep(memory: Memory, state: readonly BaseMessage[], stage: Stage = "goes on"): Promise<void> {
    const known = this.#of(memory);
    const begins = stage !== "goes on";
    await known.queue.run(async () => {
      const isQuestion = begins && state.length === 1;
      // An application may hand over the same objects in every run, also once the conversation was deleted.
      if (begins && state.some((message) => known.ids.has(message))) known.livesIn(await lifeOf(memory));
      const fresh = isQuestion ? state : state.filter((message) => !known.ids.has(message));
      const last = state.at(-1) as BaseMessage;
      const isHeld = known.ids.has(last);
      const kept = { state, fresh, isQuestion, begins };
      const added = fresh.length > 0 ? await keepFresh(memory, known, kept) : [];
      const question = questionOf(state);
      if (question === undefined || (known.anchors.has(question) && !begins)) return;
      const id = known.ids.get(question);
      // In a state read from a checkpoint, the answer stands behind it; a graph gives an agent the answers of others, too.
      const isAsked = stage === "begins" ? last === question || !isHeld : last === question && !isHeld;
      if (begins && isAsked && id !== undefined && !added.includes(last)) await takeBackAnswer(memory, id);
      const anchor = await memory.anchor(id);
      known.livesIn(anchor.life, state);
      known.anchors.set(question, anchor);
      this.#held.set(question, memory);
    });
  }

  /** Stores messages, unless the question was taken back or the conversation deleted: `NOT_FOUND`. */
  async add(memory: Memory, state: readonly BaseMessage[], ...messages: BaseMessage[]): Promise<void> {
    const known = this.#of(memory);
    await addTo(memory, known, messages, anchorOf(known, state));
  }

  /** What the model is shown. What a middleware has put into the request alone is shown last, and never stored. */
  async view(
    memory: Memory,
    state: readonly BaseMessage[],
    requested: readonly BaseMessage[],
    signal: AbortSignal | undefined,
  ): Promise<BaseMessage[]> {
    const question = questionOf(state);
    const id = question && this.#of(memory).ids.get(question);
    const pinned = id === undefined ? [] : [id];
    const stated = new Set(state);
    const extra = requested.filter((message) => !stated.has(message)).map(coerceMessageLikeToMessage);
    return (await memory.messages({ extra, pinned, openCalls: "approved", signal })).map(copyOf);
  }

  #of(memory: Memory): Known {
    const known = this.#known.get(memory) ?? new Known();
    this.#known.set(memory, known);
    return known;
  }
}

/** What is known of one memory. The same message may be said in several. */
class Known {
  /** The id in the memory of each message that is stored, if it is known. */
  ids: WeakMap<BaseMessage, string | undefined> = new WeakMap();
  /** What the answers to a question are bound to: that it is still there. */
  readonly anchors: WeakMap<BaseMessage, Anchor> = new WeakMap();
  /** Tools of one answer run at once, and each of them stores what is missing. */
  readonly queue: CallQueue = new CallQueue();
  #life: string | undefined;

  /** Forgets what was stored before the conversation was deleted, but for what is stored again. */
  livesIn(life: string | undefined, stored: readonly BaseMessage[] = []): void {
    if (life === this.#life) return;
    this.ids = new WeakMap(stored.map((message) => [message, this.ids.get(message)]));
    this.#life = life;
  }
}

async function lifeOf(memory: Memory): Promise<string | undefined> {
  // An anchor is of what this instance last knew, and others may have deleted it.
  const entries = await memory.entries();
  return entries.length === 0 ? undefined : (await memory.anchor()).life;
}

interface Kept {
  readonly state: readonly BaseMessage[];
  readonly fresh: readonly BaseMessage[];
  readonly isQuestion: boolean;
  readonly begins: boolean;
}

/** Answers what was added, as far as it is known to be new. */
async function keepFresh(
  memory: Memory,
  known: Known,
  { state, fresh, isQuestion, begins }: Kept,
): Promise<readonly BaseMessage[]> {
  const [question] = state;
  if (isQuestion && question?.type === "human" && question.id !== undefined) {
    const [id] = await memory.add(asEntry(question));
    known.ids.set(question, id);
    return [];
  }
  const record = isQuestion ? [] : await newestOf(memory, state, fresh);
  const aligned = align(state, record, (message) => known.ids.get(message));
  const last = state.at(-1) as BaseMessage;
  const isSaidAgain = begins && fresh.includes(last) && isNewQuestion(last, aligned.known.get(last), record);
  for (const message of fresh) {
    if (isSaidAgain && message === last) continue;
    const recorded = aligned.known.get(message);
    const stands = recorded !== undefined && recorded.state !== "superseded";
    if (stands && wordsOf(recorded.message) !== wordsOf(message)) {
      await memory.put(recorded.id, message, { mustExist: true });
    }
    if (aligned.known.has(message)) known.ids.set(message, recorded?.id);
  }
  await knowPrompt(memory, known, aligned.added);
  const said = isSaidAgain ? [...aligned.added, last] : aligned.added;
  const added = said.filter((message) => !known.ids.has(message));
  // What a run begins with is bound to nothing yet: its question may be one of a conversation that was deleted.
  await addTo(memory, known, added, begins ? undefined : anchorOf(known, state));
  return added;
}

/** Whether a question is in the words of one that has been answered, and not under its id: it is said once more. */
function isNewQuestion(
  question: BaseMessage,
  recorded: Recorded | undefined,
  record: readonly Recorded[],
): boolean {
  if (question.type !== "human" || recorded === undefined || recorded.message.id === question.id)
    return false;
  const newest = record.findLast(({ state }) => state !== "superseded");
  return newest !== undefined && isWhole(newest.message);
}

/** A graph gives an equal prompt another id in each run, by which the memory would take it for a new one. */
async function knowPrompt(memory: Memory, known: Known, added: readonly BaseMessage[]): Promise<void> {
  const systems = added.filter(({ type }) => type === "system");
  if (systems.length === 0) return;
  const prompt = (await memory.entries()).find(({ message }) => message.type === "system");
  for (const message of systems) {
    // One that differs takes the prompt's place, and those behind it take its.
    if (prompt === undefined || wordsOf(prompt.message) !== wordsOf(message)) return;
    known.ids.set(message, prompt.id);
  }
}

async function addTo(
  memory: Memory,
  known: Known,
  messages: readonly BaseMessage[],
  mustExist: Anchor | undefined,
): Promise<void> {
  if (messages.length === 0) return;
  for (const message of messages) {
    // The graph would give it one later, and the record would not know it.
    if (message.id === undefined) message._updateId(crypto.randomUUID());
  }
  const entries = messages.map(asEntry);
  const ids = await memory.transaction((transaction) => transaction.add(...entries), { mustExist });
  messages.forEach((message, index) => {
    known.ids.set(message, ids[index]);
  });
}

function anchorOf(known: Known, state: readonly BaseMessage[]): Anchor | undefined {
  const question = questionOf(state);
  return question && known.anchors.get(question);
}

/** Takes back the answer that has ended a question's turn, if nothing was asked since. What its tools have done stays. */
async function takeBackAnswer(memory: Memory, questionId: string): Promise<void> {
  const answered = (entries: readonly HistoryMessage<BaseMessage>[]): string | undefined => {
    const newest = entries.at(-1);
    const asked = entries.findLast(({ message }) => message.type === "human");
    return newest && asked?.id === questionId && isWhole(newest.message) ? newest.id : undefined;
  };
  if (answered(await memory.entries()) === undefined) return;
  const takeBack = () =>
    memory.transaction(
      async (transaction) => {
        const answer = answered(await transaction.entries());
        if (answer !== undefined) transaction.rewind(answer);
      },
      { onConflict: "throw" },
    );
  await despiteConflicts(takeBack);
}

function isWhole(message: BaseMessage): boolean {
  return AIMessage.isInstance(message) && (message.tool_calls ?? []).length === 0;
}

/** A question's id is the application's or the graph's own, so that one that is sent again is stored once. */
function asEntry(message: BaseMessage) {
  return message.type === "human" ? entry(message, { id: message.id }) : message;
}

function questionOf(state: readonly BaseMessage[]): BaseMessage | undefined {
  return state.findLast(({ type }) => type === "human");
}

/**
 * The newest of the record, oldest first, in whole pages: as many as may be meant, and as many questions, since a client may
 * leave out calls and results; or as few as hold all that have an id.
 */
async function newestOf(
  memory: Memory,
  state: readonly BaseMessage[],
  wanted: readonly BaseMessage[],
): Promise<Recorded[]> {
  const missing = new Set(wanted.map(({ id }) => id));
  const record: Recorded[] = [];
  const said: BaseMessage[] = [];
  // What was taken back is known too: a graph's state may still hold it.
  for await (const { messages } of memory.historyPages({ order: "descending" })) {
    record.push(...messages);
    for (const { message } of messages) missing.delete(message.id);
    said.push(...messages.filter(({ state }) => state !== "superseded").map(({ message }) => message));
    const isEnough = said.length >= state.length && questionsOf(said).length >= questionsOf(state).length;
    if (missing.size === 0 || isEnough) break;
  }
  return record.reverse();
}

function questionsOf(messages: readonly BaseMessage[]): BaseMessage[] {
  return messages.filter(({ type }) => type === "human");
}
