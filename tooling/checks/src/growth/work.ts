import { Session } from "node:inspector/promises";
import { setFlagsFromString } from "node:v8";

/** Our sources, and what is planted among them: what tests and the engine do is not counted. */
const ours = /\/packages\/[^/]+\/src\/|\/growth\/planted\.ts$/;

/**
 * Counts how much is done instead of how long it takes: how often the engine enters each block of our sources, and how many
 * values or characters built-in functions go through. It sees neither what a spread of an object copies, nor what `+` joins,
 * nor where a regular expression goes back.
 */
export class WorkMeter {
  readonly #session: Session = new Session();

  /** The engine counts the blocks of what is loaded from now on. In optimized code it would leave some of them out. */
  async start(): Promise<void> {
    setFlagsFromString("--no-opt");
    this.#session.connect();
    await this.#session.post("Profiler.enable");
    await this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  async stop(): Promise<void> {
    await this.#session.post("Profiler.stopPreciseCoverage");
    this.#session.disconnect();
  }

  /** The work of each, one after the other. */
  async workOf(runs: readonly (() => unknown)[]): Promise<number[]> {
    const work: number[] = [];
    await this.#blocks();
    for (const run of runs) {
      const builtIns = countBuiltIns();
      try {
        await run();
      } finally {
        builtIns.restore();
      }
      work.push((await this.#blocks()) + builtIns.count());
    }
    return work;
  }

  /** How many blocks were entered since the last time. */
  async #blocks(): Promise<number> {
    const { result } = await this.#session.post("Profiler.takePreciseCoverage");
    return result
      .filter(({ url }) => ours.test(url))
      .flatMap(({ functions }) => functions)
      .flatMap(({ ranges }) => ranges)
      .reduce((sum, { count }) => sum + count, 0);
  }
}

interface Sized {
  readonly length: number;
}
type Self = Sized & { readonly lastIndex: number; readonly global: boolean; readonly sticky: boolean };

/** What a call goes through, given what it was called on and with, as it was before, and what it answered. */
type Cost = (before: Self, args: readonly unknown[], answer: Sized & number & RegExpExecArray) => number;

const all: Cost = ({ length }) => length;
const one: Cost = () => 1;
const answered: Cost = (_, __, answer) => answer?.length ?? 0;
const given: Cost = (_, [text]) => (text as Sized | undefined)?.length ?? 0;
const found: Cost = ({ length }, _, index) => (index < 0 ? length : index);
const matched: Cost = ({ lastIndex, global, sticky }, [text], match) => {
  const from = global || sticky ? lastIndex : 0;
  if (match !== null) return match.index + match[0].length - from;
  return sticky ? 1 : (text as Sized).length - from;
};

const ofArrays: Readonly<Record<string, Cost>> = {
  ...{
    shift: all,
    unshift: all,
    includes: all,
    join: all,
    reverse: all,
    toReversed: all,
    sort: all,
    fill: all,
  },
  ...{
    toSorted: all,
    indexOf: found,
    slice: answered,
    concat: answered,
    flat: answered,
    toSpliced: answered,
  },
  lastIndexOf: ({ length }, _, index) => length - Math.max(0, index),
  // What is behind moves up or down.
  splice: ({ length }, [start], removed) => length - placeIn(length, Number(start ?? 0)) + removed.length,
};
const ofTexts: Readonly<Record<string, Cost>> = {
  ...{ includes: all, lastIndexOf: all, split: all, replace: all, replaceAll: all, normalize: all },
  ...{ trim: all, trimStart: all, trimEnd: all, toLowerCase: all, toUpperCase: all, isWellFormed: all },
  ...{ indexOf: found, slice: answered, substring: answered, repeat: answered, padStart: answered },
};

const builtIns: readonly (readonly [holder: object, costs: Readonly<Record<string, Cost>>])[] = [
  [Array.prototype, ofArrays],
  [String.prototype, ofTexts],
  [RegExp.prototype, { exec: matched }],
  [Object, { keys: answered, values: answered, entries: answered }],
  [JSON, { parse: given, stringify: answered }],
  [TextEncoder.prototype, { encode: answered }],
  // Loops over lists, maps and texts, and spreads of them.
  ...[[].values(), new Map().values(), new Set().values(), ""[Symbol.iterator]()].map(
    (iterator) => [Object.getPrototypeOf(iterator), { next: one }] as const,
  ),
];

function placeIn(length: number, start: number): number {
  return start < 0 ? Math.max(0, length + start) : Math.min(length, start);
}

/** Puts a function that counts in the place of each built-in one, until they are restored. */
function countBuiltIns(): { count: () => number; restore: () => void } {
  let sum = 0;
  const restores = builtIns.flatMap(([holder, costs]) =>
    Object.entries(costs).map(([name, cost]) => {
      const native = Object.getOwnPropertyDescriptor(holder, name) as PropertyDescriptor;
      const value = function (this: Self, ...args: unknown[]): unknown {
        const { length, lastIndex, global, sticky } = this;
        const answer = Reflect.apply(native.value, this, args);
        sum += 1 + cost({ length, lastIndex, global, sticky }, args, answer as Parameters<Cost>[2]);
        return answer;
      };
      Object.defineProperty(holder, name, { ...native, value });
      return () => Object.defineProperty(holder, name, native);
    }),
  );
  return {
    count: () => sum,
    restore: () => {
      for (const restore of restores) restore();
    },
  };
}
