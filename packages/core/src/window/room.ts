import type { Item } from "../steps/item.ts";
import type { Limits } from "./limits.ts";

/** What messages use of a window: their number, and their tokens as the counter counts them. */
export interface Cost {
  readonly messages: number;
  readonly tokens: number;
}

export const noCost: Cost = { messages: 0, tokens: 0 };

/** A limit that is exceeded, and by what. */
export interface Overflow {
  readonly unit: "tokens" | "messages";
  readonly needed: number;
  readonly limit: number;
}

/** What a window decides about the live messages. */
export interface WindowPlan<M> {
  /** What leaves, oldest first. */
  readonly evict: readonly Item<M>[];
  /** Those of them that a provider's compaction stands for. */
  readonly passed: readonly Item<M>[];
  /** What stays, with what repair adds to it. */
  readonly stays: Cost;
}

/** Running totals of what would stay. */
export class Room {
  messages: number;
  #tokens: number;
  readonly #limits: Limits;

  constructor(messages: number, tokens: number, limits: Limits) {
    this.messages = messages;
    this.#tokens = tokens;
    this.#limits = limits;
  }

  get total(): Cost {
    return { messages: this.messages, tokens: this.#tokens };
  }

  /** What the messages use of the limit. */
  get tokens(): number {
    return this.#limits.taken(this.#tokens);
  }

  get fits(): boolean {
    return this.fitsWithin(1);
  }

  /** Whether every limit is used up to that share at most. */
  fitsWithin(share: number): boolean {
    const { maxMessages, maxTokens } = this.#limits;
    return this.messages <= maxMessages * share && this.tokens <= maxTokens * share;
  }

  /** The same totals against lower limits: `target` of each limit whose use exceeds that share now. */
  goal(target: number, share: number): () => boolean {
    const { maxMessages, maxTokens } = this.#limits;
    const lower = (total: number, limit: number): number =>
      total > limit * share ? Math.floor(limit * target + 1e-9) : limit;
    const messages = lower(this.messages, maxMessages);
    const tokens = lower(this.tokens, maxTokens);
    return () => this.messages <= messages && this.tokens <= tokens;
  }

  /** How many tokens (at most `most`) one more message may have; -1 if not even an empty one fits. */
  tokensForOneMore(most: number): number {
    const { maxMessages, maxTokens, taken } = this.#limits;
    if (this.messages >= maxMessages || taken(this.#tokens) > maxTokens) return -1;
    let fits = 0;
    for (let above = most + 1; above - fits > 1; ) {
      const middle = Math.floor((fits + above) / 2);
      if (taken(this.#tokens + middle) <= maxTokens) fits = middle;
      else above = middle;
    }
    return fits;
  }

  enter(added: Cost): void {
    this.messages += added.messages;
    this.#tokens += added.tokens;
  }

  leave(messages: number, tokens: number): void {
    this.messages -= messages;
    this.#tokens -= tokens;
  }
}

/** What exceeds a limit, and by how much. */
export function overflowOf({ messages, tokens }: Cost, limits: Limits): Overflow | undefined {
  const { maxMessages, maxTokens } = limits;
  const needed = limits.taken(tokens);
  if (needed > maxTokens) return { unit: "tokens", needed, limit: maxTokens };
  if (messages > maxMessages) return { unit: "messages", needed: messages, limit: maxMessages };
  return undefined;
}
