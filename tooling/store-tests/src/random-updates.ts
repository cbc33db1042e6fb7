import type { MemorySnapshot, MemoryUpdate, MessageState, StoredMessage } from "@turnkeep/core";
import { type Kept, liveOf } from "./model.ts";
import { message, update } from "./updates.ts";

/** A whole number from 0 to below its argument, by a seed. */
export type Random = (below: number) => number;

/** Linear congruential, with the constants of ANSI C's example of `rand`. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

export function oneOf<T>(random: Random, list: readonly [T, ...T[]]): T {
  return list[random(list.length)] ?? list[0];
}

/** What random updates are to reach. */
export interface UpdateSizes {
  /** Bytes of a message's content, so that messages of every kind of place come about. */
  readonly bytes: readonly [number, ...number[]];
  /** So many old messages are changed by a large update. */
  readonly many: number;
}

/** So many messages of so many bytes are added at once, now and then, and every other leaves memory at once. */
const burst = 12;
const burstBytes = 400;

/** Live messages beyond so many leave memory. */
const liveAtOnce = 8;

/**
 * Updates of every kind, computed from what a memory holds: most add two messages and let older ones leave; some replace
 * live ones or evicted ones, change what left, or add many; a large one changes very many.
 */
export function randomUpdates(
  random: Random,
  { bytes, many }: UpdateSizes,
): (
  { version, nextSeq }: Pick<MemorySnapshot, "version" | "nextSeq">,
  kept: readonly Kept[],
  writer: string,
  isLarge?: boolean,
) => MemoryUpdate {
  let count = 0;

  return ({ version, nextSeq }, kept, writer, isLarge = false) => {
    const content = (size = oneOf(random, bytes)): Pick<StoredMessage, "payload" | "meta"> => ({
      payload: JSON.stringify(`${writer} ${++count} ${"x".repeat(size)}`),
      ...(random(3) === 0 ? { meta: `{"n":${count}}` } : {}),
    });
    const past = kept.filter(({ state }) => state !== "live");
    const live = liveOf(kept);
    const first = nextSeq + (random(10) === 0 ? random(3_000) : 0);
    const isBurst = random(kept.length < many ? 2 : 8) === 0;
    const append = Array.from({ length: isBurst ? burst : 2 }, (_, index) => {
      const seq = first + index;
      return { ...message(seq), id: idOf(seq), ...content(isBurst ? burstBytes : undefined) };
    });
    const move = new Map<number, MessageState | "removed">();
    const replace = new Map<number, MemoryUpdate["replace"][number]>();
    const newest = live.at(-1);
    for (const { seq } of live.slice(0, -liveAtOnce)) {
      move.set(seq, oneOf(random, ["evicted", "evicted", "evicted", "evicted", "superseded", "removed"]));
    }
    if (newest !== undefined && random(3) === 0) replace.set(newest.seq, { ...newest, ...content() });
    const left = past.filter(({ state }) => state === "evicted");
    const corrected = random(4) === 0 ? left[random(left.length)] : undefined;
    if (corrected !== undefined) replace.set(corrected.seq, { ...corrected, ...content(), state: "evicted" });
    const target = oneOf(random, ["live", "evicted", "superseded", "removed", "removed"] as const);
    const named = random(8) === 0 ? [...append, ...kept.slice(0, 20)][random(22)] : undefined;
    if (isBurst) for (const { seq } of append) if (seq % 2 === 0) move.set(seq, "evicted");
    if (named !== undefined) move.set(named.seq, target);
    if (isLarge && past.length >= many) {
      for (const { seq } of past.slice(0, many)) move.set(seq, target);
    }
    if (isLarge && live.length >= many) {
      for (const one of live.slice(0, many)) {
        move.delete(one.seq);
        replace.set(one.seq, { ...one, ...content(bytes[0]) });
      }
    }
    return update(version, first + append.length, {
      append,
      replace: [...replace.values()],
      move: [...move].map(([seq, to]) => ({ seq, to })),
      head: `"${writer} ${count}"`,
      owner: "owner",
    });
  };
}

/** Some begin like others, and go on as keys of a database might. */
function idOf(seq: number): string {
  return `${["m", "m/", "m/0000000000000000/"][seq % 3]}${seq}`;
}
