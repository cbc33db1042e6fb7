import type { Segment } from "./prompt.ts";

/** What a provider reports of one request. */
export interface Served {
  /** Tokens of the prompt's beginning that were read from the cache. */
  readonly cached: number;
  /** Tokens behind them that were written to it. */
  readonly written: number;
}

export interface PromptCache {
  /** `at` in seconds, never earlier than in the request before. */
  request(prompt: readonly Segment[], at: number): Served;
}

/** One beginning of prompts that were seen: the path from the root is what it consists of. */
class Node {
  readonly children: Map<number, Node> = new Map();
  /** For each block that ends within the last message, when it was last used. */
  readonly usedBlocks: number[] = [];
  /** When the entry that ends with the last message was last used, if there is one. */
  used: number = Number.NEGATIVE_INFINITY;

  child(id: number): Node {
    const node = this.children.get(id) ?? new Node();
    this.children.set(id, node);
    return node;
  }
}

export interface BlockRules {
  readonly kind: "blocks";
  /** A prompt's beginning is cached in whole blocks of so many tokens… */
  readonly block: number;
  /** …and only if they are so many tokens together. */
  readonly minimum: number;
}

/**
 * A cache that keeps every prompt's beginning by itself, in blocks: OpenAI's before GPT-5.6. A block lives until it has
 * not been used for the lifetime.
 */
export class BlockCache implements PromptCache {
  readonly #root: Node = new Node();
  readonly #rules: BlockRules;
  readonly #lifetime: number;

  /** `lifetime` in seconds. */
  constructor(rules: BlockRules, lifetime: number) {
    this.#rules = rules;
    this.#lifetime = lifetime;
  }

  request(prompt: readonly Segment[], at: number): Served {
    const { block, minimum } = this.#rules;
    let node = this.#root;
    let end = 0;
    let blocks = 0;
    let hit = 0;
    for (const { id, tokens } of prompt) {
      node = node.child(id);
      end += tokens;
      for (let index = 0; (blocks + 1) * block <= end; index++) {
        blocks++;
        const used = node.usedBlocks[index];
        // A block is never used without those before it.
        if (used !== undefined && at - used <= this.#lifetime) hit = blocks;
        node.usedBlocks[index] = at;
      }
    }
    const cached = hit * block;
    const total = blocks * block;
    if (total < minimum) return { cached: 0, written: 0 };
    return cached < minimum ? { cached: 0, written: total } : { cached, written: total - cached };
  }
}

export interface BreakpointRules {
  readonly kind: "breakpoints";
  /** A shorter beginning is neither written nor read. */
  readonly minimum: number;
  /** How many places are looked at, the breakpoint's own included. */
  readonly lookback: number;
  /** What is one place: a content block, runs of calls and of results being one; or a user's or tool's message. */
  readonly places: "blocks" | "inputs";
  /** Whether there is a breakpoint behind the system message, besides the one behind the newest message. */
  readonly system: boolean;
}

/**
 * A cache that is written where a request has a breakpoint, and read where an earlier request wrote: Anthropic's, and
 * OpenAI's since GPT-5.6. The newest message has a breakpoint.
 */
export class BreakpointCache implements PromptCache {
  readonly #root: Node = new Node();
  readonly #rules: BreakpointRules;
  readonly #lifetime: number;

  /** `lifetime` in seconds. */
  constructor(rules: BreakpointRules, lifetime: number) {
    this.#rules = rules;
    this.#lifetime = lifetime;
  }

  request(prompt: readonly Segment[], at: number): Served {
    const { minimum, lookback, system } = this.#rules;
    let node = this.#root;
    let end = 0;
    const path = prompt.map((segment) => {
      node = node.child(segment.id);
      end += segment.tokens;
      return { segment, node, end };
    });
    if (end < minimum) return { cached: 0, written: 0 };
    const isLive = ({ node }: { readonly node: Node }): boolean => at - node.used <= this.#lifetime;
    let after = 0;
    let later: Segment | undefined;
    let hit: (typeof path)[number] | undefined;
    for (let index = path.length - 1; index >= 0 && hit === undefined; index--) {
      const place = path[index] as (typeof path)[number];
      const { count, goesOn } = this.#placesOf(place.segment, later);
      if (after + (goesOn ? 0 : 1) > lookback) break;
      if (isLive(place)) hit = place;
      after += goesOn ? count - 1 : count;
      later = place.segment;
    }
    const first = path[0];
    const atSystem = system && first?.segment.role === "system" && first.end >= minimum ? first : undefined;
    if (hit === undefined && atSystem !== undefined && isLive(atSystem)) hit = atSystem;
    if (hit !== undefined) hit.node.used = at;
    if (atSystem !== undefined) atSystem.node.used = at;
    node.used = at;
    const cached = hit?.end ?? 0;
    return { cached, written: end - cached };
  }

  /** How many places a message has, and whether its last one is also the first of the message behind it. */
  #placesOf({ role, blocks }: Segment, later: Segment | undefined): { count: number; goesOn: boolean } {
    if (this.#rules.places === "inputs")
      return { count: role === "user" || role === "tool" ? 1 : 0, goesOn: false };
    const runs = blocks.filter((block, index) => block === "text" || block !== blocks[index + 1]);
    const goesOn = runs.at(-1) === "tool-result" && later?.blocks[0] === "tool-result";
    return { count: runs.length, goesOn };
  }
}

export type CacheRules = BlockRules | BreakpointRules;

/** `lifetime` in seconds. */
export function promptCache(rules: CacheRules, lifetime: number): PromptCache {
  return rules.kind === "blocks" ? new BlockCache(rules, lifetime) : new BreakpointCache(rules, lifetime);
}
