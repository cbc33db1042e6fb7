import type { MemoryUpdate } from "@turnkeep/core";
import { changed, type Kept } from "./model.ts";

/** That a memory was at a version at some moment between two times; `null`: that there was none. */
interface Observation {
  readonly version: string | null;
  readonly from: number;
  readonly to: number;
}

/**
 * All updates of a memory that were ever sent, what each would lead to, and what was seen of them. Updates name the
 * version that they were computed from, so those that took place form a chain, one for each life of the memory.
 */
export class Chain {
  readonly #updates = new Map<string, MemoryUpdate>();
  readonly #states = new Map<string, readonly Kept[]>();
  readonly #observations: Observation[] = [];
  #time = 0;

  /** To be told of each update before it is sent. */
  add(update: MemoryUpdate): void {
    this.#updates.set(update.version, update);
    this.#states.set(update.version, changed(this.at(update.expected), update));
  }

  /** What the memory holds at a version. One that nobody made is an error. */
  at(version: string | null): readonly Kept[] {
    if (version === null) return [];
    const state = this.#states.get(version);
    if (state === undefined) throw new Error(`Nobody made version ${version}`);
    return state;
  }

  /** The update that made a version. */
  madeBy(version: string | null): MemoryUpdate | undefined {
    return version === null ? undefined : this.#updates.get(version);
  }

  /** Makes a call that tells at which version the memory is, or has just become; its own time is noted with it. */
  async observe<A extends { readonly version: string | null }>(call: () => Promise<A>): Promise<A> {
    const from = ++this.#time;
    const answer = await call();
    this.#observations.push({ version: answer.version, from, to: ++this.#time });
    return answer;
  }

  /** The updates from a version on, that one excepted, to another; `undefined`: the one is no ancestor of the other. */
  between(first: string | null, last: string | null): MemoryUpdate[] | undefined {
    const path: MemoryUpdate[] = [];
    for (let at = last; at !== first; ) {
      const update = at === null ? undefined : this.#updates.get(at);
      if (update === undefined) return undefined;
      path.unshift(update);
      at = update.expected;
    }
    return path;
  }

  /** Why no order of the updates explains what was seen; `undefined`: one does. */
  fault(): string | undefined {
    const lives = new Map<string, MemoryUpdate[]>();
    const next = new Map<string, string>();
    for (const version of new Set(this.#observations.map((one) => one.version))) {
      const path = this.between(null, version) ?? [];
      const [begin] = path;
      if (begin === undefined) continue;
      for (const { expected, version: own } of path) {
        if (expected === null) continue;
        const other = next.get(expected);
        if (other !== undefined && other !== own)
          return `${own} and ${other} both took the place of ${expected}`;
        next.set(expected, own);
      }
      const known = lives.get(begin.version);
      if (known === undefined || known.length < path.length) lives.set(begin.version, path);
    }
    for (const life of lives.values()) {
      const fault = this.#disorderIn(life);
      if (fault !== undefined) return fault;
    }
    return this.#disorderOf([...lives.values()]);
  }

  /** Each version of a life is over once a later one was seen. */
  #disorderIn(life: readonly MemoryUpdate[]): string | undefined {
    let over = Number.POSITIVE_INFINITY;
    for (const { version } of life.toReversed()) {
      const { first, last } = this.#spanOf([version]);
      if (last > over) return `${version} was seen after a later version had been`;
      over = Math.min(over, first);
    }
    return undefined;
  }

  /** No two lives overlap, and none goes on after the memory was found absent. */
  #disorderOf(lives: readonly (readonly MemoryUpdate[])[]): string | undefined {
    const spans = lives.map((life) => ({ life, ...this.#spanOf(life.map(({ version }) => version)) }));
    for (const one of spans) {
      const name = one.life[0]?.version;
      for (const other of spans) {
        if (one !== other && one.first < other.last && other.first < one.last) {
          return `the life that began with ${name} and that with ${other.life[0]?.version} overlap`;
        }
      }
      const absent = this.#observations.find(
        ({ version, from, to }) => version === null && from > one.first && to < one.last,
      );
      if (absent !== undefined) return `the life that began with ${name} went on after it had ended`;
    }
    return undefined;
  }

  /** When at the latest the first of these versions was there, and when at the earliest the last. */
  #spanOf(versions: readonly string[]): { first: number; last: number } {
    const names = new Set<string | null>(versions);
    const seen = this.#observations.filter(({ version }) => names.has(version));
    return {
      first: seen.reduce((first, { to }) => Math.min(first, to), Number.POSITIVE_INFINITY),
      last: seen.reduce((last, { from }) => Math.max(last, from), Number.NEGATIVE_INFINITY),
    };
  }
}
