import type { MessageFormat } from "../message-format.ts";
import { integer, such } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type { Item } from "../steps/item.ts";
import { hasOpenCalls } from "../steps/pairing.ts";
import type { Step } from "../steps/step.ts";
import { copiesPerMessage } from "./copies-per-message.ts";
import { type ListSteps, listSteps } from "./list-steps.ts";
import { listOf, type MessageList } from "./message-list.ts";
import type { MessagePairs, PairedCall } from "./pairs.ts";
import type { AnyProcessor, ProcessorContext } from "./processor.ts";
import { Shown } from "./shown.ts";
import { StepsHolding } from "./steps-holding.ts";

/** Options of {@link toolCallFilter}. */
export interface ToolCallFilterOptions {
  /** The names of the tools to leave out. Default: all. An empty list leaves out nothing. */
  readonly exclude?: readonly string[] | undefined;
  /**
   * How many of the newest steps with calls keep them, whatever their tool; the border moves by a quarter of that
   * number at a time. Default: those of the running turn, as long as the model has not answered their results; 0: none.
   */
  readonly keepLastSteps?: number | undefined;
}

const fields = {
  exclude: optional(such<readonly string[]>("a list of tools' names; leave it out for all tools", isTexts)),
  keepLastSteps: optional(integer(0)),
} satisfies Fields<ToolCallFilterOptions>;

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/**
 * Leaves out tool calls together with their results, and the approvals of those calls. Text and reasoning beside them
 * stay; a message that holds nothing else is left out. Where an answer is several messages (items of OpenAI's Responses
 * API), reasoning goes with the last of the calls that it led to. A result belongs to the call with its id, whatever
 * name it has; a result without a call is matched by its own name. Calls of one message that share an id go together, once
 * all their tools are left out.
 *
 * By default, what the model is working on stays: while the list ends in a call or its results, the steps after the
 * last user message keep theirs. If only system messages and reasoning would be left, the newest step stays as it is.
 *
 * Errors: `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { assistant, toolCall, toolResult, user } from "@turnkeep/core";
 * import { applyProcessors, toolCallFilter } from "@turnkeep/core/processors";
 *
 * const messages = [
 *   user("Which hotels are there?"),
 *   toolCall("call-1", "search", { for: "hotels" }),
 *   toolResult("call-1", "search", "Grand, Savoy"),
 *   assistant("The Grand and the Savoy."),
 *   toolCall("call-2", "book", { hotel: "Savoy" }),
 *   toolResult("call-2", "book", "Booked."),
 * ];
 * const shown = await applyProcessors(messages, [toolCallFilter({ exclude: ["search"], keepLastSteps: 0 })]);
 * shown.map(({ role }) => role); // ["user", "assistant", "assistant", "tool"]
 * ```
 */
export function toolCallFilter(options?: ToolCallFilterOptions): AnyProcessor {
  const { exclude, keepLastSteps } = takeOptions("toolCallFilter", fields, options, "toolCallFilter.");
  const names = exclude && new Set(exclude);
  const isExcluded = (name: string | undefined): boolean =>
    names === undefined || (name !== undefined && names.has(name));
  // Asked once, however many results answer calls that share an id.
  const excludedCalls = new WeakMap<PairedCall, boolean>();
  const isExcludedCall = (call: PairedCall): boolean => {
    const isOut = excludedCalls.get(call) ?? call.names.every(isExcluded);
    excludedCalls.set(call, isOut);
    return isOut;
  };
  const copyOf = copiesPerMessage();
  const processor: AnyProcessor = {
    name: "tool-call-filter",
    process<M>(given: readonly M[], { format }: ProcessorContext<M>): readonly M[] {
      if (names?.size === 0) return given;
      const list = listOf(given, format);
      const { messages } = list;
      const steps = listSteps(list);
      const inParts = format.answersInParts === true;
      const { calling, decided } = list.states(processor, () => {
        const decided = new Shown<M>();
        return {
          calling: new StepsHolding(steps, (at) => (steps.pairs[at] as MessagePairs).calls.size > 0),
          decided,
          // Reasoning goes with what stands behind it in its answer.
          answers: inParts
            ? { cut: (length: number) => decided.cut(openAnswer(messages.slice(0, length), format)) }
            : undefined,
        };
      });
      if (calling.grow()) decided.cut(0);
      const border =
        keepLastSteps === undefined ? runningSteps(list) : newestSteps(list, calling, keepLastSteps);
      const filtered = (at: number): M | undefined => {
        const message = messages[at] as M;
        const gone = goneFrom(at, border.from, steps, { isExcluded, isExcludedCall });
        if (gone === undefined) return message;
        return copyOf(message, format, () => without(message, gone, format), JSON.stringify(gone));
      };
      const showing = (): ((at: number) => M | undefined) => {
        if (!inParts) return filtered;
        const isLeftAlone = leftAlone(messages, format, filtered);
        return (at) => (isLeftAlone(at) ? undefined : filtered(at));
      };
      const until = inParts ? Math.min(border.decided, openAnswer(messages, format)) : border.decided;
      const shown = decided.of(messages.length, until, showing());
      if (shown.some((message) => saysSomething(message, format))) return shown;
      const newest = new Set(steps.newest?.items.map(({ seq }) => seq));
      const show = showing();
      return messages.flatMap((message, at) => {
        const left = newest.has(at) ? message : show(at);
        return left === undefined ? [] : [left];
      });
    },
  };
  return processor;
}

/** The place from which on messages are parts of an answer that may continue. */
function openAnswer<M>(messages: readonly M[], format: MessageFormat<M>): number {
  return messages.findLastIndex((message) => format.role(message) !== "assistant") + 1;
}

/**
 * Whether a message is reasoning whose answer (the parts after it, up to the next reasoning) is left out: providers
 * refuse the one without the other. Asked in ascending order: reasoning in a row has one answer.
 */
function leftAlone<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  filtered: (at: number) => M | undefined,
): (at: number) => boolean {
  const isReasoning = (place: number): boolean => format.hasReasoning(messages[place] as M);
  let from = 0;
  let isAlone = false;
  return (at) => {
    if (at < from || !isReasoning(at)) return at < from && isAlone;
    from = at + 1;
    while (from < messages.length && isReasoning(from)) from++;
    let to = from;
    while (to < messages.length && format.role(messages[to] as M) === "assistant" && !isReasoning(to)) {
      isAlone = filtered(to) === undefined;
      if (!isAlone) return false;
      to++;
    }
    isAlone = to > from;
    return isAlone;
  };
}

/** The ids of what is left out of a message. */
interface Gone {
  readonly calls: readonly string[];
  readonly results: readonly string[];
  readonly approvals: readonly string[];
}

/** The steps that keep their calls. */
interface Border {
  /** The place of the first of them. */
  readonly from: number;
  /** How many messages are decided for good, however the list grows. */
  readonly decided: number;
}

/** The steps of the running turn; none if the model has answered. */
function runningSteps<M>(list: MessageList<M>): Border {
  const { messages, format } = list;
  const steps = listSteps(list);
  const question = steps.questions.at(-1) ?? -1;
  const newest = messages.at(-1);
  const isRunning = newest !== undefined && isWorkedOn(newest, steps.stepWith(messages.length - 1), format);
  return {
    from: isRunning ? question + 1 : messages.length,
    decided: steps.before(Math.max(question, 0)),
  };
}

/** The newest `keep` steps with calls, rounded to the border's grid. */
function newestSteps<M>(list: MessageList<M>, calling: StepsHolding<M>, keep: number): Border {
  const from = calling.newest(keep) ?? list.messages.length;
  return { from, decided: listSteps(list).before(from) };
}

function isWorkedOn<M>(newest: M, step: Step<M>, format: MessageFormat<M>): boolean {
  if (step.calls.size === 0) return false;
  // A message that holds its calls with their results may end in the model's answer to them.
  const ends = format.role(newest) === "assistant" && format.pieces(newest).at(-1)?.of;
  return hasOpenCalls(step) || ends !== "content";
}

interface Exclusion {
  isExcluded(name: string | undefined): boolean;
  isExcludedCall(call: PairedCall): boolean;
}

/** What is left out of a message if steps from that place on keep their calls; `undefined` if nothing is. */
function goneFrom<M>(
  at: number,
  keptFrom: number,
  steps: ListSteps<M>,
  { isExcluded, isExcludedCall }: Exclusion,
): Gone | undefined {
  const { calls, results, approvals } = steps.pairs[at] as MessagePairs;
  if (calls.size + results.size + approvals.size === 0) return undefined;
  const isOut = (call: PairedCall | undefined): boolean =>
    call !== undefined && steps.placeOf(call.at) < keptFrom && isExcludedCall(call);
  const idsOut = (paired: ReadonlyMap<string, PairedCall | undefined>): string[] =>
    [...paired].flatMap(([id, call]) => (isOut(call) ? [id] : []));
  const orphans = (steps.items[at] as Item<M>).results
    .filter(({ id, name }) => results.get(id) === undefined && isExcluded(name))
    .map(({ id }) => id);
  const gone = {
    calls: idsOut(calls),
    results: [...idsOut(results), ...orphans],
    approvals: idsOut(approvals),
  };
  return gone.calls.length + gone.results.length + gone.approvals.length > 0 ? gone : undefined;
}

/** Reasoning alone says nothing without the answer that it led to. */
function saysSomething<M>(message: M, format: MessageFormat<M>): boolean {
  return format.role(message) !== "system" && format.without(message, { reasoning: true }) !== undefined;
}

function without<M>(message: M, gone: Gone, format: MessageFormat<M>): M | undefined {
  const isIn = (ids: readonly string[]): ((id: string) => boolean) => {
    const known = new Set(ids);
    return (id) => known.has(id);
  };
  const [toolCalls, toolResults, approvals] = [isIn(gone.calls), isIn(gone.results), isIn(gone.approvals)];
  return format.without(message, { toolCalls, toolResults, approvals });
}
