import { isDerived, isSystem, isUser, type Step } from "../steps/step.ts";
import type { EvictionUnit } from "./units/unit.ts";

/** Groups that leave together, oldest first, and the group that leaves last. */
export interface Groups<M> {
  /** Generated on demand: a window looks no further than what leaves. */
  readonly older: Iterable<readonly Step<M>[]>;
  readonly newest: readonly Step<M>[];
}

/** Steps in groups that leave together; system and derived messages are in none. */
export function groupsOf<M>(steps: readonly Step<M>[], unit: EvictionUnit): Groups<M> {
  const first = steps.findLastIndex((step) => isSaid(step) && unit.beginsGroup(step));
  const end = Math.max(0, first);
  return { older: groupsUpTo(steps, end, unit), newest: steps.slice(end).filter(isSaid) };
}

function* groupsUpTo<M>(steps: readonly Step<M>[], end: number, unit: EvictionUnit): Generator<Step<M>[]> {
  let group: Step<M>[] = [];
  for (let index = 0; index < end; index++) {
    const step = steps[index] as Step<M>;
    if (!isSaid(step)) continue;
    if (group.length > 0 && unit.beginsGroup(step)) {
      yield group;
      group = [];
    }
    group.push(step);
  }
  if (group.length > 0) yield group;
}

function isSaid<M>(step: Step<M>): boolean {
  return !isSystem(step) && !isDerived(step);
}

/** The steps between a turn's question and its newest step; none where the newest group is one step. */
export function withinTurn<M>(newest: readonly Step<M>[]): readonly Step<M>[] {
  return newest.slice(isUser(newest[0]) ? 1 : 0, -1);
}
