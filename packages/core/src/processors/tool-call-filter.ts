import type { Item } from "../memory/item.ts";
import type { Step } from "../memory/live.ts";
import type { MessageFormat } from "../message-format.ts";
import { beforeBorder } from "./border.ts";
import { type AnyProcessor, checkInteger, checkObject, invalid } from "./options.ts";
import { stepsOf } from "./steps.ts";

export interface ToolCallFilterOptions {
  /** The names of the tools to leave out. Default: all. An empty list leaves out nothing. */
  readonly exclude?: readonly string[] | undefined;
  /**
   * So many of the newest steps with calls keep them, whatever tool they name; the border moves on by a quarter of that
   * number at once. Default: those of the running turn, as long as the model has still to answer its results; 0: none.
   */
  readonly keepLastSteps?: number | undefined;
}

/**
 * Leaves out tool calls together with their results, and the approvals of those calls. Text that stands beside them
 * stays; a message that holds nothing else goes, and so does reasoning that led to nothing but the calls.
 *
 * By default what the model is working on stays: while the list ends in a call or its results, the steps behind the last
 * user message keep theirs. If nothing but system messages would be left, the newest step stays as it is.
 *
 * Errors: `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { toolCallFilter } from "@turnkeep/core/processors";
 *
 * const processors = [toolCallFilter({ exclude: ["search"], keepLastSteps: 2 })];
 * ```
 */
export function toolCallFilter(options: ToolCallFilterOptions = {}): AnyProcessor {
  checkObject("toolCallFilter", options);
  const { exclude, keepLastSteps } = options;
  if (exclude !== undefined && !isNames(exclude)) {
    throw invalid("toolCallFilter.exclude", exclude, "a list of tools' names; leave it out for all tools");
  }
  if (keepLastSteps !== undefined) checkInteger("toolCallFilter.keepLastSteps", keepLastSteps, 0);
  const names = exclude === undefined ? undefined : new Set(exclude);
  const isExcluded = (name: string | undefined): boolean =>
    names === undefined || (name !== undefined && names.has(name));
  return {
    name: "tool-call-filter",
    process<M>(messages: readonly M[], { format }: { readonly format: MessageFormat<M> }): readonly M[] {
      if (names?.size === 0) return messages;
      const steps = stepsOf(messages, format);
      const border =
        keepLastSteps === undefined
          ? runningFrom(steps, messages.length)
          : lastFrom(steps.map(hasCalls), keepLastSteps);
      const shown: (M | undefined)[] = [...messages];
      for (const step of steps.slice(0, border)) {
        for (const [seq, message] of filtered(step, isExcluded, format)) shown[seq] = message;
      }
      if (steps.length > 0 && !shown.some((message) => isSaid(message, format))) {
        for (const { seq } of steps.at(-1)?.items ?? []) shown[seq] = messages[seq];
      }
      return shown.filter((message) => message !== undefined);
    },
  };
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function isSaid<M>(message: M | undefined, format: MessageFormat<M>): boolean {
  return message !== undefined && format.role(message) !== "system";
}

function hasCalls<M>(step: Step<M>): boolean {
  return step.calls.size > 0;
}

/** Where the running turn begins; behind all steps when the model has answered. */
function runningFrom<M>(steps: readonly Step<M>[], messages: number): number {
  const last = steps.find((step) => step.items.some(({ seq }) => seq === messages - 1));
  if (last === undefined || !hasCalls(last)) return steps.length;
  return steps.findLastIndex((step) => step.items[0]?.role === "user") + 1;
}

/** Where the newest `keep` of those that count begin, on the grid; behind all when there are none. */
function lastFrom(counts: readonly boolean[], keep: number): number {
  const places = counts.flatMap((isOne, index) => (isOne ? [index] : []));
  return places[beforeBorder(places.length, keep)] ?? counts.length;
}

/** What becomes of the messages of a step, by index; `undefined`: left out. */
function filtered<M>(
  step: Step<M>,
  isExcluded: (name: string | undefined) => boolean,
  format: MessageFormat<M>,
): Map<number, M | undefined> {
  const calls = new Set<string>();
  for (const item of step.items) for (const { id, name } of item.calls) if (isExcluded(name)) calls.add(id);
  // A result is matched to its call by id; only one without a call goes by the name that it bears itself.
  const results = new Set(calls);
  for (const item of step.items) {
    for (const { id, name } of item.results) if (!step.calls.has(id) && isExcluded(name)) results.add(id);
  }
  const made = new Map<number, M | undefined>();
  if (results.size === 0) return made;
  const omission = {
    toolCalls: (id: string) => calls.has(id),
    toolResults: (id: string) => results.has(id),
    approvals: (id: string) => calls.has(step.approvals.get(id) ?? ""),
  };
  for (const item of step.items) made.set(item.seq, format.without(item.message as M, omission));
  if (calls.size > 0) for (const seq of reasoningAlone(step.items, made, format)) made.set(seq, undefined);
  return made;
}

/** The messages in which nothing but reasoning is left, and behind which nothing is left of the same answer. */
function reasoningAlone<M>(
  items: readonly Item<M>[],
  made: ReadonlyMap<number, M | undefined>,
  format: MessageFormat<M>,
): number[] {
  const alone: number[] = [];
  for (const { seq, role } of items.toReversed()) {
    const message = made.get(seq);
    if (message === undefined || role !== "assistant") continue;
    if (!format.hasReasoning(message) || format.without(message, { reasoning: true }) !== undefined) break;
    alone.push(seq);
  }
  return alone;
}
