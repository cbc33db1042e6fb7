import { invalidOption, quoted } from "../errors.ts";
import type { MessageFormat } from "../message-format.ts";
import { shown, wrongOption } from "../option-checks.ts";
import type { TokenCounter } from "../window-options.ts";
import type { Item, ItemFacts, ItemMeta, ItemReader } from "./item.ts";
import { perMessage } from "./per-message.ts";

/** Asks the format, the counter and `pinned` about a message. */
export function factsOf<M>(
  message: M,
  reader: ItemReader<M>,
  stored?: ItemMeta,
): ItemFacts<M> & { readonly message: M } {
  const { format, counter } = reader;
  const role = format.role(message);
  const calls = orNone(format.toolCalls(message));
  const results = orNone(format.toolResults(message));
  return {
    message,
    error: undefined,
    role,
    calls,
    results,
    approvals: orNone(format.approvals(message)),
    boundary: format.isBoundary(message),
    part: format.answersInParts === true,
    inPlace: format.interrupted !== undefined,
    pinned: isPinned(message, reader),
    sets: role === "system" || role === "tool" ? orNone(format.sets?.(message) ?? none) : none,
    tokens:
      counter === undefined ? 0 : (stored?.tokens?.[counter.name] ?? countTokens(message, counter, format)),
    format: calls.length + results.length > 0 ? format : undefined,
  };
}

// Shared, because most messages have none, and a process may hold many memories.
const none: readonly never[] = [];

function orNone<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? none : list;
}

function isPinned<M>(message: M, { pinned }: ItemReader<M>): boolean {
  const answer: unknown = pinned?.(message);
  if (answer === undefined || typeof answer === "boolean") return answer === true;
  throw wrongOption("The result of window.pinned", answer, "true or false");
}

/** What the format said of messages that cannot change: views hold the same objects again and again. */
const knownFacts = new WeakMap<object, WeakMap<object, ItemFacts<unknown>>>();

/** As `factsOf`; of a frozen message the format is asked once, however many lists hold it. */
export function knownFactsOf<M>(message: M, reader: ItemReader<M>): ItemFacts<M> {
  const { format, counter } = reader;
  if (typeof message !== "object" || message === null || !Object.isFrozen(message))
    return factsOf(message, reader);
  const known = knownFacts.get(format) ?? new WeakMap<object, ItemFacts<unknown>>();
  knownFacts.set(format, known);
  let facts = known.get(message) as ItemFacts<M> | undefined;
  if (facts === undefined) {
    facts = factsOf(message, { format });
    known.set(message, facts);
  }
  const tokens = counter === undefined ? 0 : countTokens(message, counter, format);
  return { ...facts, tokens, pinned: isPinned(message, reader) };
}

export function countTokens<M>(message: M, counter: TokenCounter, format: MessageFormat<M>): number {
  const count = counter.count(message, format);
  if (!Number.isSafeInteger(count) || count < 0) {
    throw invalidOption(
      `The token counter ${quoted(counter.name)} answered ${shown(count)}; it must answer a non-negative integer.`,
    );
  }
  return count;
}

/** The tokens of all messages of a view. */
export function tokensOf<M>(
  messages: readonly M[],
  items: readonly Item<M>[],
  reader: ItemReader<M>,
): number {
  const count = tokensIn(items, reader);
  return messages.reduce((sum, message) => sum + count(message), 0);
}

/** The tokens of a message in a view: the stored count if it is shown unchanged, else counted. 0 without a counter. */
export function tokensIn<M>(
  items: readonly Item<M>[],
  { counter, format }: ItemReader<M>,
): (message: M) => number {
  if (counter === undefined) return () => 0;
  const stored = new Map(items.map((item) => [item.message, item.tokens]));
  return (message) => stored.get(message) ?? countOnce(message, counter, format);
}

/** Of each counter: what processors and profiles make of a message is the same object in every view. */
const counted = new WeakMap<TokenCounter, ReturnType<typeof perMessage>>();

export function countOnce<M>(message: M, counter: TokenCounter, format: MessageFormat<M>): number {
  const known = counted.get(counter) ?? perMessage();
  counted.set(counter, known);
  return known(message, format, () => countTokens(message, counter, format));
}
