import { pushAll } from "../steps/push-all.ts";
import { isDerived, isInstruction, isStanding, isSystem, isUser, type Step } from "../steps/step.ts";
import type { EvictionUnit } from "./units/unit.ts";

/** Groups that leave together, oldest first, and the group that leaves last. */
export interface Groups<M> {
  /** Generated on demand: a window looks no further than what leaves. */
  readonly older: Iterable<readonly Step<M>[]>;
  readonly newest: readonly Step<M>[];
}

type Beginning = Pick<EvictionUnit, "beginsGroup">;

/**
 * Steps in groups that leave together; standing and derived messages are in none. An instruction is in the group of the
 * step behind it, and in the newest while none is.
 */
export function groupsOf<M>(steps: readonly Step<M>[], unit: Beginning): Groups<M> {
  const first = steps.findLastIndex((step) => isSpoken(step) && unit.beginsGroup(step));
  const end = withInstructions(steps, Math.max(0, first));
  return { older: groupsUpTo(steps, end, unit), newest: steps.slice(end).filter(mayLeave) };
}

function* groupsUpTo<M>(steps: readonly Step<M>[], end: number, unit: Beginning): Generator<Step<M>[]> {
  let group: Step<M>[] = [];
  let instructions: Step<M>[] = [];
  for (let index = 0; index < end; index++) {
    const step = steps[index] as Step<M>;
    if (isInstruction(step)) instructions.push(step);
    if (!isSpoken(step)) continue;
    if (group.length > 0 && unit.beginsGroup(step)) {
      yield group;
      group = [];
    }
    pushAll(group, instructions);
    group.push(step);
    if (instructions.length > 0) instructions = [];
  }
  if (group.length > 0) yield group;
}

/** Where the instructions begin that belong to the step at that index. */
export function withInstructions<M>(steps: readonly Step<M>[], index: number): number {
  let first = index;
  for (let at = index - 1; at >= 0; at--) {
    const step = steps[at] as Step<M>;
    if (isInstruction(step)) first = at;
    else if (isSpoken(step)) break;
  }
  return first;
}

/** Each step behind the instructions that belong to it. Those at the end belong to a step that is still to come. */
export function eachWithInstructions<M>(steps: readonly Step<M>[]): Iterable<readonly Step<M>[]> {
  return groupsUpTo(steps, steps.length, { beginsGroup: () => true });
}

function isSpoken<M>(step: Step<M>): boolean {
  return !isSystem(step) && mayLeave(step);
}

function mayLeave<M>(step: Step<M>): boolean {
  return !isStanding(step) && !isDerived(step);
}

/** The steps between a turn's question and its newest step, each with its instructions; none where it is one step. */
export function withinTurn<M>(newest: readonly Step<M>[]): readonly (readonly Step<M>[])[] {
  const all = [...eachWithInstructions(newest)];
  return all.slice(isUser(all[0]?.at(-1)) ? 1 : 0, -1);
}
