import { median } from "../measure.ts";
import { bytesOf } from "./samples.ts";

/** A way to count the tokens of a text. */
export interface Counter {
  readonly name: string;
  count(text: string): number;
}

/** How fast texts are counted, ours and by those peers that count every one of them exactly as ours. */
export interface Comparison {
  /** MB for a second of the process's time, by name, by kind of text: medians of the rounds. */
  readonly speeds: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Of the peers that count otherwise: how many texts. They are no exact peers, so they have no speed. */
  readonly differing: ReadonlyMap<string, number>;
}

/** Ours comes first among the counters. Each warms up for so many ms on the first round of a kind. */
export function compare(
  counters: readonly [Counter, ...Counter[]],
  samples: ReadonlyMap<string, readonly string[][]>,
  warmUpMs: number,
): Comparison {
  const differing = new Map<string, number>();
  const all = [...samples].map(([kind, rounds]): [string, Raced[]] => {
    const raced = race(counters, rounds, warmUpMs);
    for (const { name, counts } of raced) {
      const differ = counts.filter((count, index) => count !== raced[0]?.counts[index]).length;
      if (differ > 0) differing.set(name, (differing.get(name) ?? 0) + differ);
    }
    return [kind, raced];
  });
  return {
    speeds: new Map(
      all.map(([kind, raced]) => [
        kind,
        new Map(raced.filter(({ name }) => !differing.has(name)).map(({ name, speed }) => [name, speed])),
      ]),
    ),
    differing,
  };
}

interface Raced {
  readonly name: string;
  readonly speed: number;
  /** Of each text, in the order of the texts. */
  readonly counts: readonly number[];
}

/** All take turns, each time another one first. What else the machine does costs none of them: it is the process's time. */
function race(
  counters: readonly Counter[],
  [first = [], ...rounds]: readonly string[][],
  warmUpMs: number,
): Raced[] {
  const lanes = counters.map((counter) => ({ counter, speeds: [] as number[], counts: [] as number[] }));
  for (const { counter, counts } of lanes) {
    for (const text of first) counts.push(counter.count(text));
    const end = performance.now() + warmUpMs;
    while (performance.now() < end) for (const text of first) counter.count(text);
  }
  for (const [round, texts] of rounds.entries()) {
    const megabytes = texts.reduce((sum, text) => sum + bytesOf(text), 0) / 1e6;
    for (let turn = 0; turn < lanes.length; turn++) {
      const { counter, speeds, counts } = lanes[(round + turn) % lanes.length] as (typeof lanes)[number];
      const began = process.cpuUsage();
      for (const text of texts) counts.push(counter.count(text));
      const { user, system } = process.cpuUsage(began);
      speeds.push((megabytes * 1e6) / (user + system));
    }
  }
  return lanes.map(({ counter, speeds, counts }) => ({ name: counter.name, speed: median(speeds), counts }));
}

/** How many times as fast as the fastest other one; without another one it is infinite. */
export function leadOf(name: string, speeds: ReadonlyMap<string, number>): number {
  const others = [...speeds].filter(([other]) => other !== name).map(([, speed]) => speed);
  return (speeds.get(name) ?? Number.NaN) / Math.max(0, ...others);
}
