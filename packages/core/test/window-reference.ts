import type { ModelMessageLike } from "../src/format/model-message.ts";
import { modelMessageFormat as format } from "../src/format/model-message-format.ts";
import type { ToolCallRef } from "../src/message-format.ts";
import { interruptedText } from "../src/view/missing-results.ts";
import type { TokenCounter, WindowOptions } from "../src/window-options.ts";

/** Counts characters, three more a message: every message costs something, and the sums are easy to follow. */
export const characterCounter: TokenCounter = {
  name: "characters",
  base: 2,
  count: (message, messageFormat) =>
    messageFormat
      .pieces(message)
      .reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 10), 3),
};

/** One message of the reference: its place is its index among all that were ever added. */
export interface Said {
  readonly place: number;
  readonly message: ModelMessageLike;
  /** Calls that it answers after the model went on. */
  readonly late: readonly string[];
}

export type ReferenceOptions = WindowOptions<ModelMessageLike> & { readonly systemFirst?: boolean };

const callIds = (said: Said): string[] => format.toolCalls(said.message).map((call) => call.id);
const resultIds = (said: Said): string[] => format.toolResults(said.message).map((result) => result.id);
const times = (ids: readonly string[], id: string): number => ids.filter((one) => one === id).length;
const isTool = (said: Said): boolean => said.message.role === "tool";
const tokensOf = (message: ModelMessageLike): number => characterCounter.count(message, format);

/**
 * Groups messages into steps, the slow and obvious way. A message with results joins the newest step if it answers that
 * one, else the first that asked; results that came before their call join it when it comes. A call directly behind
 * calls that wait joins them, with what the assistant said between.
 */
export function stepsOf(live: readonly Said[]): Said[][] {
  const steps: Said[][] = [];
  const resultsOf = (step: readonly Said[], id: string): number => times(step.flatMap(resultIds), id);
  const callsOf = (step: readonly Said[], id: string): number => times(step.flatMap(callIds), id);
  const answers = (step: readonly Said[], id: string): boolean => resultsOf(step, id) > 0;
  const asks = (step: readonly Said[], id: string): boolean => callsOf(step, id) > 0;
  for (const [index, said] of live.entries()) {
    const askers = resultIds(said).map((id) => {
      const asking = steps.filter((step) => asks(step, id));
      return asking.findLast((step) => resultsOf(step, id) < callsOf(step, id)) ?? asking.at(-1);
    });
    const newest = live.slice(0, index).findLast(({ message }) => message.role === "assistant");
    const home =
      askers.find((step) => newest !== undefined && step?.includes(newest)) ??
      askers.find((step) => step !== undefined);
    if (home !== undefined) {
      home.push(said);
      continue;
    }
    const waiting = callIds(said).length > 0 ? waitingRun(said, live.slice(0, index), steps) : undefined;
    const step: Said[] = waiting?.flat() ?? [];
    if (waiting !== undefined) steps.splice(steps.length - waiting.length);
    for (const id of callIds(said)) {
      if ([...steps, step].some((other) => asks(other, id))) continue;
      for (const orphan of steps.filter((other) => other.every(isTool) && answers(other, id))) {
        step.push(...orphan);
        steps.splice(steps.indexOf(orphan), 1);
      }
    }
    steps.push([...step, said]);
  }
  return steps;
}

/** The newest steps from the one on whose calls wait directly before, if one does. */
function waitingRun(
  { place }: Said,
  before: readonly Said[],
  steps: readonly Said[][],
): Said[][] | undefined {
  for (const [index, said] of before.toReversed().entries()) {
    if (said.message.role !== "assistant" || said.place !== place - index - 1) return undefined;
    const at = steps.findIndex((step) => step.includes(said));
    const step = steps[at] as Said[];
    const inTime = step.flatMap((one) => resultIds(one).filter((id) => !one.late.includes(id)));
    const waits = step.flatMap(callIds).some((id) => times(inTime, id) < times(step.flatMap(callIds), id));
    if (waits) return steps.slice(at);
  }
  return undefined;
}

/** The assistant's messages from one to another, if nothing else stands between them. */
function runOf(step: readonly Said[], first: Said, last: Said): Said[] | undefined {
  const run = step.slice(step.indexOf(first), step.indexOf(last) + 1);
  return run.every(({ message }) => message.role === "assistant") ? run : undefined;
}

/** Messages that are shown as one: those of one answer, unless one of its calls has no result. */
interface Answer {
  readonly first: Said;
  run: readonly Said[];
  readonly open: readonly string[];
}

function answersOf(step: readonly Said[], isLast: boolean): Answer[] {
  const results = step.flatMap((said) => resultIds(said).filter((id) => !said.late.includes(id)));
  const callers = step.filter((said) => callIds(said).length > 0);
  const answers: Answer[] = [];
  for (const caller of callers) {
    const missing = callIds(caller).filter((id) => {
      const place = results.indexOf(id);
      if (place >= 0) results.splice(place, 1);
      return place < 0;
    });
    const mayWait = isLast && runOf(step, caller, callers.at(-1) as Said) !== undefined;
    const open = mayWait ? [] : missing;
    const before = answers.at(-1);
    const run = before && before.open.length + open.length === 0 && runOf(step, before.first, caller);
    if (before !== undefined && run) before.run = run;
    else answers.push({ first: caller, run: [caller], open });
  }
  return answers;
}

function asOne(run: readonly Said[]): ModelMessageLike {
  const [first] = run as readonly [Said];
  if (run.length === 1) return first.message;
  const content = run.flatMap(({ message }) =>
    typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content,
  );
  return { role: "assistant", content } as unknown as ModelMessageLike;
}

/** What the model would be shown of a step, in any order. */
function shownOf(step: readonly Said[], isLast: boolean): ModelMessageLike[] {
  const answers = answersOf(step, isLast);
  if (answers.length === 0) return step.map(({ message }) => message).filter(({ role }) => role !== "tool");
  const inAnswers = new Set(answers.flatMap(({ run }) => run));
  const isSaidBetween = (said: Said): boolean => said.message.role === "assistant" && !inAnswers.has(said);
  const shown = step.filter(isSaidBetween).map(({ message }) => message);
  const used = new Set<string>();
  for (const { run, open } of answers) {
    const message = asOne(run);
    shown.push(message);
    // One result for each call, the first that came.
    const waiting = format.toolCalls(message).map(({ id }) => id);
    for (const said of step) {
      const taken = resultIds(said).map((id, index) => {
        const key = `${said.place} ${index}`;
        const place = said.late.includes(id) || used.has(key) ? -1 : waiting.indexOf(id);
        if (place < 0) return false;
        waiting.splice(place, 1);
        used.add(key);
        return true;
      });
      if (!taken.includes(true)) continue;
      const part = format.without(said.message, { toolResults: () => taken.shift() === false });
      if (part !== undefined) shown.push(part);
    }
    const calls = open.map((id) => format.toolCalls(message).find((call) => call.id === id) as ToolCallRef);
    if (calls.length > 0) shown.push(...format.interruptedResults(calls, interruptedText));
  }
  return shown;
}

/** Each thing that users and the assistant said: an answer of several messages may be shown as one. */
export function saidIn(messages: readonly ModelMessageLike[]): string[] {
  return messages
    .filter(({ role }) => role === "user" || role === "assistant")
    .flatMap(({ role, content }) => {
      const parts: readonly unknown[] =
        typeof content === "string" ? [{ type: "text", text: content }] : content;
      return parts.map((part) => `${role} ${JSON.stringify(part)}`);
    });
}

function shownCost(steps: readonly Said[][]): { messages: number; tokens: number } {
  const sum = (messages: readonly ModelMessageLike[]): number =>
    messages.reduce((total, message) => total + tokensOf(message), 0);
  const last = steps.findLast(([first]) => first?.message.role !== "system");
  let messages = 0;
  let tokens = 0;
  for (const step of steps) {
    const shown = shownOf(step, step === last);
    messages += Math.max(shown.length, step.length);
    tokens += Math.max(sum(shown), sum(step.map((said) => said.message)));
  }
  return { messages, tokens };
}

/** What an add leaves in memory: evicts the oldest group that may go, one after another, counting anew each time. */
export function referenceWindow(live: readonly Said[], options: ReferenceOptions): Said[] {
  const { unit = "step", overflow = "throw" } = options;
  const maxMessages = (options.maxMessages as number | undefined) ?? Number.POSITIVE_INFINITY;
  const maxTokens = (options.maxTokens as number | undefined) ?? Number.POSITIVE_INFINITY;
  const target = options.target ?? (options.maxTokens === undefined ? 1 : 0.7);
  const fixed = options.maxTokens === undefined ? 0 : 2 + ((options.reserve as number | undefined) ?? 0);
  const steps = stepsOf(live);
  const total = (messages: readonly Said[]): { messages: number; tokens: number } => {
    // What leaves may let others meet: they are grouped anew only once it has left.
    const cost = shownCost(steps.filter(([first]) => messages.includes(first as Said)));
    return { messages: cost.messages, tokens: cost.tokens + fixed };
  };
  const before = total(live);
  const over = (cost: { messages: number; tokens: number }): boolean =>
    cost.messages > maxMessages || cost.tokens > maxTokens;
  if (!over(before)) return [...live];
  const goalMessages = before.messages > maxMessages ? Math.floor(maxMessages * target + 1e-9) : maxMessages;
  const goalTokens = before.tokens > maxTokens ? Math.floor(maxTokens * target + 1e-9) : maxTokens;
  const reached = (messages: readonly Said[]): boolean => {
    const cost = total(messages);
    return cost.messages <= goalMessages && cost.tokens <= goalTokens;
  };
  let kept = [...live];
  const isSystem = (step: Said[]): boolean => step[0]?.message.role === "system";
  const isPinned = (step: Said[]): boolean => step.some((said) => options.pinned?.(said.message) === true);
  const without = (gone: Said[]): Said[] => kept.filter((said) => !gone.includes(said));
  const groups: Said[][] = [];
  for (const step of steps) {
    if (isSystem(step)) continue;
    const opens = unit === "step" || step[0]?.message.role === "user" || groups.length === 0;
    if (opens) groups.push([...step]);
    else groups.at(-1)?.push(...step);
  }
  const newest = groups.pop() ?? [];
  for (const group of groups) {
    if (reached(kept)) return kept;
    if (!isPinned(group)) kept = without(group);
  }
  const inner = steps.filter((step) => newest.includes(step[0] as Said));
  if (over(total(kept)) && unit === "turn") {
    for (const step of inner.slice(inner[0]?.[0]?.message.role === "user" ? 1 : 0, -1)) {
      if (reached(kept)) return kept;
      if (!isPinned(step)) kept = without(step);
    }
  }
  if (over(total(kept)) && overflow === "evict" && !isPinned(newest)) kept = without(newest);
  return kept;
}

/** The system message in front, if it shall stand there. */
export function inViewOrder(live: readonly Said[], systemFirst: boolean): Said[] {
  if (!systemFirst) return [...live];
  return [
    ...live.filter((said) => said.message.role === "system"),
    ...live.filter((said) => said.message.role !== "system"),
  ];
}

/** What is wrong with a view that claims to be fit for a provider; empty if nothing is. */
export function faultsOf(view: readonly ModelMessageLike[]): string[] {
  const faults: string[] = [];
  let open: string[] = [];
  for (const [index, message] of view.entries()) {
    const results = format.toolResults(message).map((result) => result.id);
    if (message.role === "tool") {
      for (const id of results) {
        if (!open.includes(id)) faults.push(`[${index}] result ${id} without its call`);
        else open.splice(open.indexOf(id), 1);
      }
      continue;
    }
    if (open.length > 0) faults.push(`[${index}] calls ${open.join()} unanswered before it`);
    open = format.toolCalls(message).map((call) => call.id);
  }
  return faults;
}
