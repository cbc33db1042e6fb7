import {
  type ChatMemory,
  createChatMemory,
  entry,
  isTurnkeepError,
  type MemoryEvent,
  type MessageFormat,
  type TokenCounter,
} from "@turnkeep/core";
import type { Place } from "../places/folder.ts";
import { arrivalsOf } from "../terminal/arrivals.ts";
import { isAccepted } from "./check-view.ts";
import { formats } from "./message-kind.ts";
import type { Settings } from "./options.ts";
import type { Conversation } from "./read-conversations.ts";
import {
  addFigures,
  type Departure,
  type ExplainedLine,
  noViews,
  type TurnReport,
  type View,
  type ViewFigures,
} from "./report.ts";
import { type ReplayedTurn, turnsAcross, turnsOf } from "./turns.ts";

/** A message's id says where it stands in its conversation, so that a replay knows what is there already. */
export function messageId(index: number): string {
  return `message-${index + 1}`;
}

/** From 0; `undefined` for an id that no replay gave. */
export function indexOfId(id: string): number | undefined {
  const number = /^message-([1-9]\d*)$/.exec(id)?.[1];
  return number === undefined ? undefined : Number(number) - 1;
}

export function openMemory(
  conversation: Conversation,
  settings: Settings,
  place: Place,
  counter: TokenCounter,
  onEvent?: (event: MemoryEvent) => void,
): ChatMemory<unknown> {
  const { run, maxTokens, maxMessages, unit, profile } = settings;
  return createChatMemory<unknown>({
    id: `replay/${run}/${conversation.id}`,
    owner: `replay/${run}`,
    store: place.store,
    format: formats[conversation.kind],
    profile,
    // What the reports count: a later one takes the place of the first.
    systemMessages: "one",
    window: { maxTokens, maxMessages, unit, ...(maxTokens === undefined ? {} : { counter }) },
    onEvent,
  });
}

/** How many of a conversation's messages the store has: everything up to the newest. */
export async function storedCount(memory: ChatMemory<unknown>): Promise<number> {
  const page = await memory.history({ order: "descending", limit: 1 });
  const [newest] = page.messages;
  return newest === undefined ? 0 : (indexOfId(newest.id) ?? -1) + 1;
}

/** One conversation on its way through a memory. */
export class ConversationRun {
  readonly turns: readonly ReplayedTurn[];
  readonly #conversation: Conversation;
  readonly #settings: Settings;
  readonly #format: MessageFormat<unknown>;
  readonly #counter: TokenCounter;
  readonly #memory: ChatMemory<unknown>;
  readonly #live = new Set<number>();
  readonly #tokens = new WeakMap<object, number>();
  #added = 0;
  #kept = 0;
  #system: unknown;
  #evicted: number[] = [];
  #figures: ViewFigures = noViews;

  constructor(conversation: Conversation, settings: Settings, place: Place, counter: TokenCounter) {
    this.#conversation = conversation;
    this.#settings = settings;
    this.#format = formats[conversation.kind];
    this.#counter = counter;
    this.turns = turnsOf(conversation.messages, this.#format);
    this.#memory = openMemory(conversation, settings, place, counter, (event) => {
      if (event.type !== "evicted") return;
      for (const id of event.messageIds) {
        const index = indexOfId(id);
        if (index !== undefined) this.#evicted.push(index);
      }
    });
  }

  get figures(): ViewFigures {
    return this.#figures;
  }

  /** How many messages the store has. */
  stored(): Promise<number> {
    return storedCount(this.#memory);
  }

  /** Finds what the store has already; answers how many whole turns that are. */
  async resume(): Promise<number> {
    this.#added = await storedCount(this.#memory);
    if (this.#added === 0) return 0;
    for await (const page of this.#memory.historyPages()) {
      for (const { id, state } of page.messages) {
        const index = indexOfId(id);
        if (index === undefined) continue;
        this.#kept += 1;
        if (state === "live") this.#live.add(index);
        const message = this.#conversation.messages[index];
        if (message !== undefined && this.#format.role(message) === "system") this.#system = message;
      }
    }
    return this.turns.filter((turn) => turn.to <= this.#added).length;
  }

  /** Adds a turn's messages, one at a time, as an application would, and looks at each view on the way. */
  async play(turn: ReplayedTurn): Promise<TurnReport> {
    const { messages } = this.#conversation;
    const start = Math.max(turn.from, this.#added);
    const replaced: boolean[] = [];
    const departures: Departure[] = [];
    let overflow: View["overflow"];
    for (let index = start; index < turn.to; index += 1) {
      const message = messages[index];
      if (index > 0 && this.#format.role(message) === "assistant") {
        overflow = (await this.#look()).overflow ?? overflow;
      }
      const departure = await this.#add(message, index, replaced);
      if (departure !== undefined) departures.push(departure);
    }
    return {
      number: turn.number,
      arrivals: arrivalsOf(messages.slice(start, turn.to), this.#format),
      view: await this.#look(),
      overflow,
      left: departures.reduce<Departure | undefined>(joined, undefined),
      systemReplaced: replaced.includes(true),
      explained: this.#settings.explain ? await this.#explain() : [],
      history: { kept: this.#kept, live: this.#live.size },
    };
  }

  async close(): Promise<void> {
    await this.#memory.close();
  }

  async #add(message: unknown, index: number, replaced: boolean[]): Promise<Departure | undefined> {
    const over = this.#tooMuchWith(message);
    this.#evicted = [];
    await this.#memory.add(entry(message, { id: messageId(index) }));
    this.#added = index + 1;
    if (this.#format.role(message) === "system") {
      const current = this.#system;
      if (current !== undefined && this.#format.equals(current, message)) return undefined;
      this.#system = message;
      replaced.push(current !== undefined);
      for (const other of this.#live) {
        if (this.#format.role(this.#conversation.messages[other]) === "system") this.#live.delete(other);
      }
    }
    this.#kept += 1;
    this.#live.add(index);
    const evicted = this.#evicted;
    for (const other of evicted) this.#live.delete(other);
    if (evicted.length === 0) return undefined;
    return { messages: evicted.length, turns: turnsAcross(evicted, this.turns), over };
  }

  /** What the memory would hold if nothing left: the reason why something does. */
  #tooMuchWith(message: unknown): Departure["over"] {
    const { messages } = this.#conversation;
    const replaces = this.#format.role(message) === "system";
    const all = [...this.#live]
      .map((index) => messages[index])
      .filter((other) => !replaces || this.#format.role(other) !== "system");
    const tokens = this.#tokensOf([...all, message]);
    const { maxTokens } = this.#settings;
    if (maxTokens !== undefined && tokens > maxTokens) return { amount: tokens, of: "tokens" };
    return { amount: all.length + 1, of: "messages" };
  }

  async #look(): Promise<View> {
    const { maxTokens, maxMessages, unit } = this.#settings;
    let view: View;
    let broken = false;
    try {
      const shown = await this.#memory.messages();
      view = { messages: shown.length, tokens: this.#tokensOf(shown) };
      broken = unit !== "message" && !isAccepted(shown, this.#format);
    } catch (error) {
      if (!isTurnkeepError(error, "WINDOW_OVERFLOW")) throw error;
      const { needed = 0, limit = 0 } = error.details;
      view = { messages: 0, tokens: 0, overflow: { needed, limit } };
    }
    const overLimit =
      (maxTokens !== undefined && view.tokens > maxTokens) ||
      (maxMessages !== undefined && view.messages > maxMessages);
    this.#figures = addFigures(this.#figures, {
      views: 1,
      largestTokens: view.tokens,
      largestMessages: view.messages,
      overLimit: Number(overLimit),
      broken: Number(broken),
      overflows: Number(view.overflow !== undefined),
    });
    return view;
  }

  async #explain(): Promise<ExplainedLine[]> {
    const lines: ExplainedLine[] = [];
    const { messages } = await this.#memory.explain({ evicted: 1000 });
    for (const { id, state, by, stored, shown, tokens } of messages) {
      const number = id === undefined ? undefined : (indexOfId(id) ?? 0) + 1;
      const last = lines.at(-1);
      if (state === "evicted" && last?.state === "evicted" && last.by === by && last.messages && number) {
        lines.splice(-1, 1, { ...last, messages: [last.messages[0], number], arrival: undefined });
        continue;
      }
      const message = shown ?? stored;
      const [arrival] = message === undefined ? [] : arrivalsOf([message], this.#format);
      lines.push({
        state,
        by,
        messages: number === undefined ? undefined : [number, number],
        tokens,
        arrival,
      });
    }
    return lines;
  }

  #tokensOf(messages: readonly unknown[]): number {
    const base = this.#counter.base ?? 0;
    return messages.reduce<number>((sum, message) => sum + this.#tokensOfOne(message as object), base);
  }

  #tokensOfOne(message: object): number {
    const tokens = this.#tokens.get(message) ?? this.#counter.count<unknown>(message, this.#format);
    this.#tokens.set(message, tokens);
    return tokens;
  }
}

function joined(a: Departure | undefined, b: Departure): Departure {
  if (a === undefined) return b;
  return {
    messages: a.messages + b.messages,
    turns: [Math.min(a.turns[0], b.turns[0]), Math.max(a.turns[1], b.turns[1])],
    over: a.over.of === b.over.of && a.over.amount > b.over.amount ? a.over : b.over,
  };
}
