import { quoted, TurnkeepError } from "../errors.ts";
import type { MessageFormat } from "../message-format.ts";
import { perObject } from "../steps/per-message.ts";
import { kindOf } from "../values.ts";
import { frozenCopy, isFrozenCopy } from "./frozen-copy.ts";
import { type ListsByArray, listIn, listOf, MessageList } from "./message-list.ts";
import { isMessage } from "./run-processor.ts";

/** The lists that callers gave each processor, by their newest messages. */
const given = perObject();

/** The lists whose messages were returned to callers, who may have changed the arrays since. */
const returned: ListsByArray = new WeakMap();

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
  const list = listIn(returned, messages, format) ?? listGivenTo(processor, messages, format);
  const shown = list.become(messages, (message, index) => {
    const copy = copyOf(message, index, format);
    isCopied ||= copy !== message;
    return copy;
  });
  return { shown, isCopied };
}

/** A list is found by its newest message, and known as long as that message lives. */
function listGivenTo<M>(processor: object, messages: readonly M[], format: MessageFormat<M>): MessageList<M> {
  const byNewest = given(processor, format, () => new WeakMap<object, MessageList<M>>());
  let list: MessageList<M> | undefined;
  for (let length = messages.length; length > 0 && list === undefined; length--) {
    const newest = messages[length - 1] as object;
    const known = byNewest.get(newest);
    if (known?.messages.length !== length) continue;
    list = known;
    byNewest.delete(newest);
  }
  list ??= new MessageList(format);
  const newest = messages.at(-1);
  if (typeof newest === "object" && newest !== null) byNewest.set(newest, list);
  return list;
}

/** The messages as their caller knows them, with the caller's own in place of their copies. */
export function returnedTo<M>(shown: readonly M[], { isCopied }: Given<M>, format: MessageFormat<M>): M[] {
  const list = listOf(shown, format);
  const messages = isCopied ? list.messages.map(originalOf) : list.messages.slice();
  list.note(messages, returned);
  return messages;
}

function originalOf<M>(message: M): M {
  return (originals.get(message as object) as M | undefined) ?? message;
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
