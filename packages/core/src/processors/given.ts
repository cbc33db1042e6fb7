import { TurnkeepError } from "../errors.ts";
import type { MessageFormat } from "../message-format.ts";
import { kindOf } from "../option-checks.ts";
import { quoted } from "../stores/text.ts";
import { frozenCopy, isFrozenCopy } from "./frozen-copy.ts";
import { type GrowingLists, listsOf } from "./growing-list.ts";
import { isMessage } from "./run-processor.ts";

/** What callers gave each processor. */
const given = new WeakMap<object, GrowingLists>();

/** The newest copy of each message that can change. */
const copies = new WeakMap<object, unknown>();
const originals = new WeakMap<object, unknown>();

interface Given<M> {
  readonly shown: readonly M[];
  /** Whether there are copies among them. */
  readonly isCopied: boolean;
}

/**
 * A caller's messages, frozen for a processor. A message that is not frozen is copied, and copied again only after it
 * has changed: what processors know of the copy, such as its tokens, then still holds.
 */
export function givenTo<M>(processor: object, messages: readonly M[], format: MessageFormat<M>): Given<M> {
  let isCopied = false;
  const shown = listsOf(processor, given).frozen(messages, (message, index) => {
    const copy = copyOf(message, index, format);
    isCopied ||= copy !== message;
    return copy;
  });
  return { shown, isCopied };
}

/** The messages as their caller knows them, with the caller's own in place of their copies. */
export function asGiven<M>(messages: readonly M[]): M[] {
  return messages.map((message) => (originals.get(message as object) as M | undefined) ?? message);
}

function copyOf<M>(message: M, index: number, format: MessageFormat<M>): M {
  const before = copies.get(message as object) as M | undefined;
  if (before !== undefined && isFrozenCopy(before, message)) return before;
  if (!isMessage(message, format)) {
    throw new TurnkeepError(
      "INVALID_MESSAGE",
      `messages[${index}] is ${kindOf(message)} that the format ${quoted(format.name)} does not read as a message.`,
    );
  }
  const copy = frozenCopy(message, format);
  if (copy !== message) {
    copies.set(message as object, copy);
    originals.set(copy as object, message);
  }
  return copy;
}
