import type { MessageFormat } from "@turnkeep/core";

/** Messages `from` (from 0) up to `to` (exclusive) of a conversation. */
export interface ReplayedTurn {
  /** From 1. */
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Cuts a conversation into turns: a user message and all up to the next. What stands before the first user message
 * belongs to the first turn, and a system message that stands right before a user message to that user's turn.
 */
export function turnsOf(
  messages: readonly unknown[],
  format: MessageFormat<unknown>,
): readonly ReplayedTurn[] {
  const starts: number[] = [];
  for (const [index, message] of messages.entries()) {
    if (format.role(message) !== "user") continue;
    let start = index;
    while (start > 0 && format.role(messages[start - 1]) === "system") start -= 1;
    starts.push(starts.length === 0 ? 0 : start);
  }
  if (starts.length === 0) starts.push(0);
  return starts.map((from, index) => ({ number: index + 1, from, to: starts[index + 1] ?? messages.length }));
}

/** The numbers of the first and the last turn that messages belong to, by their indexes, of which there is one or more. */
export function turnsAcross(indexes: readonly number[], turns: readonly ReplayedTurn[]): [number, number] {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const index of indexes) {
    first = Math.min(first, index);
    last = Math.max(last, index);
  }
  return [numberOf(first, turns), numberOf(last, turns)];
}

/** By halves: the turns of a long conversation are searched at every departure. */
function numberOf(index: number, turns: readonly ReplayedTurn[]): number {
  let [low, high] = [0, turns.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((turns[middle] as ReplayedTurn).to <= index) low = middle + 1;
    else high = middle;
  }
  return turns[low]?.number ?? 1;
}
