import { type Step, stepsOf } from "../memory/live.ts";
import type { MessageFormat } from "../message-format.ts";
import { beforeBorder } from "./border.ts";
import { type AnyProcessor, checkInteger, checkObject, invalid } from "./options.ts";
import { type PairedCall, pairsOf } from "./pairs.ts";
import { copiesPerMessage } from "./per-message.ts";

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
 * Leaves out tool calls together with their results, and the approvals of those calls. Text and reasoning beside them
 * stay; a message that holds nothing else goes. A result belongs to the call with its id, whatever name it bears; one
 * without a call goes by its own name.
 *
 * By default what the model is working on stays: while the list ends in a call or its results, the steps behind the last
 * user message keep theirs. If nothing but system messages would be left, the newest step stays as it is.
 *
 * Errors: `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { toolCallFilter } from "@turnkeep/core/processors";
 *
 * const processors = [toolCallFilter({ exclude: ["search"], keepLastSteps: 2 })];
 * ```
 */
export function toolCallFilter(options: ToolCallFilterOptions = {}): AnyProcessor {
  const { names, keepLastSteps } = checkedOptions(options);
  const copyOf = copiesPerMessage();
  return {
    name: "tool-call-filter",
    process<M>(messages: readonly M[], { format }: { readonly format: MessageFormat<M> }): readonly M[] {
      if (names?.size === 0) return messages;
      const steps = stepsOf(messages, format);
      const border =
        keepLastSteps === undefined ? runningFrom(steps, messages, format) : lastFrom(steps, keepLastSteps);
      const kept = new Set(steps.slice(border).flatMap(({ items }) => items.map(({ seq }) => seq)));
      const goneOf = goneFrom(messages, format, names, kept);
      const shown = messages.map((message, at) => {
        const gone = goneOf(message, at);
        if (gone === undefined) return message;
        return copyOf(message, format, () => without(message, gone, format), JSON.stringify(gone));
      });
      if (!shown.some((message) => message !== undefined && format.role(message) !== "system")) {
        for (const { seq } of steps.at(-1)?.items ?? []) shown[seq] = messages[seq];
      }
      return shown.filter((message) => message !== undefined);
    },
  };
}

function checkedOptions(options: ToolCallFilterOptions): {
  readonly names: ReadonlySet<string> | undefined;
  readonly keepLastSteps: number | undefined;
} {
  checkObject("toolCallFilter", options);
  const { exclude, keepLastSteps } = options;
  if (exclude !== undefined && !isNames(exclude)) {
    throw invalid("toolCallFilter.exclude", exclude, "a list of tools' names; leave it out for all tools");
  }
  if (keepLastSteps !== undefined) checkInteger("toolCallFilter.keepLastSteps", keepLastSteps, 0);
  return { names: exclude === undefined ? undefined : new Set(exclude), keepLastSteps };
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

/** Where the running turn begins; behind all steps when the model has answered. */
function runningFrom<M>(steps: readonly Step<M>[], messages: readonly M[], format: MessageFormat<M>): number {
  const newest = steps.find((step) => step.items.some(({ seq }) => seq === messages.length - 1));
  if (newest === undefined || newest.calls.size === 0) return steps.length;
  // A message that holds its calls with their results may end in the answer to them.
  const last = messages.at(-1) as M;
  const isAnswered = [...newest.calls.values()].every(({ answered }) => answered);
  if (isAnswered && format.role(last) === "assistant" && format.pieces(last).at(-1)?.of === "content") {
    return steps.length;
  }
  return steps.findLastIndex((step) => step.items[0]?.role === "user") + 1;
}

/** Where the newest steps with calls begin, on the grid; behind all when there are none. */
function lastFrom<M>(steps: readonly Step<M>[], keep: number): number {
  const places = steps.flatMap((step, place) => (step.calls.size > 0 ? [place] : []));
  return places[beforeBorder(places.length, keep)] ?? steps.length;
}

/** The ids of what a message leaves out. */
interface Gone {
  readonly calls: readonly string[];
  readonly results: readonly string[];
  readonly approvals: readonly string[];
}

/** What each message leaves out; `undefined` for one that leaves out nothing. */
function goneFrom<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  names: ReadonlySet<string> | undefined,
  kept: ReadonlySet<number>,
): (message: M, at: number) => Gone | undefined {
  const pairs = pairsOf(messages, format);
  const isExcluded = (name: string | undefined): boolean =>
    names === undefined || (name !== undefined && names.has(name));
  const isOut = (call: PairedCall | undefined): boolean =>
    call !== undefined && !kept.has(call.at) && isExcluded(call.name);
  const idsOut = (calls: ReadonlyMap<string, PairedCall | undefined>): string[] =>
    [...calls].flatMap(([id, call]) => (isOut(call) ? [id] : []));
  return (message, at) => {
    const own = pairs.get(at);
    if (own === undefined) return undefined;
    const orphans = format
      .toolResults(message)
      .filter(({ id, name }) => own.results.get(id) === undefined && isExcluded(name))
      .map(({ id }) => id);
    const gone = {
      calls: idsOut(own.calls),
      results: [...idsOut(own.results), ...orphans],
      approvals: idsOut(own.approvals),
    };
    return gone.calls.length + gone.results.length + gone.approvals.length > 0 ? gone : undefined;
  };
}

function without<M>(message: M, gone: Gone, format: MessageFormat<M>): M | undefined {
  return format.without(message, {
    toolCalls: (id) => gone.calls.includes(id),
    toolResults: (id) => gone.results.includes(id),
    approvals: (id) => gone.approvals.includes(id),
  });
}
