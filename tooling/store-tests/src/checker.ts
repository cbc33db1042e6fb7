import type { Operation } from "./operations.ts";

/** The first operation that no order of all operations explains, and what is wrong with it. */
export interface Fault {
  readonly operation: Operation;
  /** A sentence with the ids. */
  readonly why: string;
}

/**
 * Looks for an order in which the operations could have happened one after the other: each between its call and its
 * answer, each read seeing exactly what the writes before it had left. Answers `undefined` if there is one, else the
 * operation, by the time of its answer, with which it became impossible. This is linearizability, as M. Herlihy and
 * J. Wing define it (ACM TOPLAS 12(3), 1990); the search is theirs too, kept short by what the reads tell of the order.
 */
export function findFault(operations: readonly Operation[]): Fault | undefined {
  const answered = operations
    .filter(({ returned }) => returned !== undefined)
    .sort((a, b) => returnOf(a) - returnOf(b));
  if (hasOrder(operations)) return undefined;
  // What is impossible up to some answer stays so after it: the first is found by halving.
  let [possible, impossible] = [-1, answered.length - 1];
  while (impossible - possible > 1) {
    const middle = Math.floor((possible + impossible) / 2);
    if (hasOrder(until(operations, answered[middle] as Operation))) possible = middle;
    else impossible = middle;
  }
  const operation = answered[impossible] as Operation;
  return { operation, why: explain(operation, until(operations, operation)) };
}

/** What was known when `last` was answered: what had not been answered then may have happened or not. */
function until(operations: readonly Operation[], last: Operation): Operation[] {
  const time = returnOf(last);
  return operations.flatMap((operation) => {
    if (returnOf(operation) <= time) return [operation];
    if (operation.invoked > time || operation.call.kind === "read") return [];
    return [{ ...operation, returned: undefined }];
  });
}

function returnOf({ returned }: Operation): number {
  return returned ?? Number.POSITIVE_INFINITY;
}

/** A write that was tried at this place of the order, and what can be tried instead if it leads nowhere. */
interface Step {
  readonly done: ReadonlySet<Operation>;
  readonly list: readonly string[];
  readonly choices: Operation[];
}

function hasOrder(operations: readonly Operation[]): boolean {
  const reads = operations.filter(({ call }) => call.kind === "read");
  const before = predecessors(reads);
  const observed = new Set(reads.flatMap(({ call }) => (call.kind === "read" ? call.seen : [])));
  // A write without an answer that nobody saw need not have happened.
  const relevant = operations.filter(
    ({ call, returned }) =>
      returned !== undefined || call.kind !== "add" || call.ids.some((id) => observed.has(id)),
  );
  const deadEnds = new Set<string>();
  const steps: Step[] = [];
  let next: Step | undefined = settle(relevant, new Set(), []);
  for (;;) {
    if (next !== undefined) {
      if (relevant.every((operation) => operation.returned === undefined || next?.done.has(operation))) {
        return true;
      }
      steps.push(next);
    }
    const step = steps.at(-1);
    if (step === undefined) return false;
    const choice = step.choices.shift();
    if (choice === undefined) {
      deadEnds.add(keyOf(relevant, step.done));
      steps.pop();
      next = undefined;
      continue;
    }
    const list = apply(choice, step.list, before);
    next = list === undefined ? undefined : settle(relevant, new Set(step.done).add(choice), list);
    if (next !== undefined && deadEnds.has(keyOf(relevant, next.done))) next = undefined;
  }
}

/** Takes every read that may happen now and sees this list, since a read changes nothing; then which writes may come next. */
function settle(relevant: readonly Operation[], done: Set<Operation>, list: readonly string[]): Step {
  for (;;) {
    const open = relevant.filter((operation) => !done.has(operation));
    const firstAnswer = Math.min(...open.map(returnOf));
    const possible = open.filter(({ invoked }) => invoked <= firstAnswer);
    const fitting = possible.filter(({ call }) => call.kind === "read" && areEqual(call.seen, list));
    if (fitting.length === 0) {
      return { done, list, choices: possible.filter(({ call }) => call.kind !== "read") };
    }
    for (const read of fitting) done.add(read);
  }
}

/** The list after the write, or `undefined` if some read saw another message right before one that it adds. */
function apply(
  { call }: Operation,
  list: readonly string[],
  before: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] | undefined {
  if (call.kind === "clear") return [];
  if (call.kind === "remove") return list.filter((id) => id !== call.id);
  if (call.kind === "read") return list;
  const after = [...list];
  for (const id of call.ids) {
    for (const earlier of before.get(id) ?? []) if (!after.includes(earlier)) return undefined;
    after.push(id);
  }
  return after;
}

/** For each message those that some read saw right before it. */
function predecessors(reads: readonly Operation[]): Map<string, Set<string>> {
  const before = new Map<string, Set<string>>();
  for (const { call } of reads) {
    if (call.kind !== "read") continue;
    for (const [index, id] of call.seen.entries()) {
      const earlier = call.seen[index - 1];
      if (earlier !== undefined) before.set(id, (before.get(id) ?? new Set()).add(earlier));
    }
  }
  return before;
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}

/** The list follows from the order of the writes, which is told apart by the reads; so what is done is enough. */
function keyOf(relevant: readonly Operation[], done: ReadonlySet<Operation>): string {
  return relevant.map((operation) => (done.has(operation) ? "1" : "0")).join("");
}

function explain({ call, invoked, client }: Operation, known: readonly Operation[]): string {
  if (call.kind !== "read")
    return `${client}: a ${call.kind} was acknowledged that no read can have followed`;
  const { seen } = call;
  const finished = known.filter((operation) => returnOf(operation) < invoked);
  const added = finished.flatMap(({ call }) => (call.kind === "add" ? call.ids : []));
  const everAdded = new Set(known.flatMap(({ call }) => (call.kind === "add" ? call.ids : [])));
  const gone = finished.flatMap((operation) => goneBy(operation, known));
  const doubled = seen.find((id, index) => seen.indexOf(id) !== index);
  if (doubled !== undefined) return `${client} read ${doubled} twice: it was doubled`;
  const strange = seen.find((id) => !everAdded.has(id));
  if (strange !== undefined) return `${client} read ${strange}, which nobody had added`;
  const risen = seen.find((id) => gone.includes(id));
  if (risen !== undefined) return `${client} read ${risen} after it was removed: it was resurrected`;
  const mayBeGone = new Set(known.flatMap((operation) => goneBy(operation, known)));
  const lost = added.find((id) => !seen.includes(id) && !mayBeGone.has(id));
  if (lost !== undefined) return `${client} did not read ${lost}, which was acknowledged before: it was lost`;
  return `${client} read messages in an order that contradicts other reads or the times of the calls: they were swapped`;
}

/** What cannot be there any more once this operation has happened. */
function goneBy({ call, invoked }: Operation, known: readonly Operation[]): readonly string[] {
  if (call.kind === "remove") return [call.id];
  if (call.kind !== "clear") return [];
  const earlier = known.filter((operation) => returnOf(operation) < invoked);
  return earlier.flatMap(({ call }) => (call.kind === "add" ? call.ids : []));
}
