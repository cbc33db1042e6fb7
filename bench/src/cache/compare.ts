import type { TokenCounter } from "@turnkeep/core";
import type { Cell, Table } from "../report/table.ts";
import { type Bill, billOf, useOf } from "./bill.ts";
import { byTarget, type Candidate, candidates, rehearse } from "./candidates.ts";
import type { Dialogue } from "./dialogue.ts";
import { cards, labelOf } from "./prices.ts";

/** What a policy costs by each card, and how much of the window it uses. */
interface Point {
  /** `null` if the window never filled. */
  readonly use: number | null;
  readonly bills: readonly Bill[];
}

/**
 * Candidates against `target`: at the use that a candidate makes of the window, on the line between those two targets
 * that use less and more of it. A negative number says how much less the candidate costs there.
 */
export function comparison<M>(
  dialogues: readonly Dialogue<M>[],
  limits: readonly number[],
  counter: TokenCounter,
): Table {
  const rows: Cell[][] = [];
  for (const limit of limits) {
    const measure = (candidate: Candidate): Point => {
      const traces = dialogues.map((dialogue) => rehearse(dialogue, candidate, limit, counter));
      return {
        use: useOf(traces, limit, counter),
        bills: cards.map((card) => billOf(traces, card, counter)),
      };
    };
    const targets = Array.from({ length: 15 }, (_, index) => measure(byTarget((6 + index) / 20)));
    for (const candidate of candidates) {
      const { use, bills } = measure(candidate);
      if (use === null) continue;
      const changes = bills.map(({ dollars }, card) => (dollars / costAt(targets, use, card) - 1) * 100);
      rows.push([candidate.name, limit, use * 100, ...changes]);
    }
  }
  return {
    title: "Other policies: the change of the cost against `target` at the same use, %",
    columns: ["policy", "limit", "in use, %", ...cards.map(labelOf)],
    rows,
  };
}

/** The cost of that use by targets, given from the lowest; beyond them, as between the nearest two. */
function costAt(targets: readonly Point[], use: number, card: number): number {
  const filled = targets.flatMap(({ use, bills }) => (use === null ? [] : [{ use, bills }]));
  const next = filled.findIndex((point) => point.use >= use);
  const above = Math.max(1, next === -1 ? filled.length - 1 : next);
  const [low, high] = [filled[above - 1], filled[above]];
  const [from, to] = [low?.bills[card], high?.bills[card]];
  if (low === undefined || high === undefined || from === undefined || to === undefined)
    throw new Error("The conversations are too short to compare targets");
  return from.dollars + ((use - low.use) / (high.use - low.use)) * (to.dollars - from.dollars);
}
