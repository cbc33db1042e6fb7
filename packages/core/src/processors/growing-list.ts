import type { MessageFormat } from "../message-format.ts";
import { perObject } from "./per-message.ts";

/**
 * A list of messages that cannot change and has only grown since it was first seen, so that what was made of its
 * messages still holds.
 */
interface GrowingList {
  /** All of them. Not a frozen array, because V8 reads those ten times slower. */
  readonly messages: unknown[];
}

/** The lists that frozen arrays show. */
const shown = new WeakMap<readonly unknown[], GrowingList>();

/** The list that a frozen array shows, unless it has grown beyond it since. */
function listShownBy(messages: readonly unknown[]): GrowingList | undefined {
  const list = shown.get(messages);
  return list?.messages.length === messages.length ? list : undefined;
}

/**
 * Keeps a processor's state with a list, by format, so that the processor can go on when the list has grown. For any
 * other list it begins anew.
 */
export function statePerList(): <M, State>(
  messages: readonly M[],
  format: MessageFormat<M>,
  begin: () => State,
) => State {
  const known = perObject();
  return (messages, format, begin) => known(listShownBy(messages), format, begin);
}

/** Lists that are seen repeatedly. A list is found by its newest message, and known as long as that message lives. */
export class GrowingLists {
  readonly #byNewest: WeakMap<object, GrowingList> = new WeakMap();

  /**
   * The messages in a frozen array that shows a list, with the results of `frozen` in place of those that can change.
   * In a list known before, `frozen` is called for what is new, and for everything after a message that can change.
   */
  frozen<M>(messages: readonly M[], frozen: (message: M, index: number) => M): readonly M[] {
    const known = this.#find(messages);
    const before = (known?.messages ?? []) as M[];
    const added = Array.from(messages.slice(before.length), (message, index) =>
      frozen(message, before.length + index),
    );
    const isFixed = added.every((copy, index) => copy === messages[before.length + index]);
    // Copies cannot change either, and an unchanged message gives the same copy again.
    if (!isFixed) return this.frozen([...before, ...added], (message) => message);
    const list = known ?? { messages: [] };
    if (before.length > 0) this.#byNewest.delete(before.at(-1) as object);
    for (const message of added) list.messages.push(message);
    const newest = list.messages.at(-1);
    if (typeof newest === "object" && newest !== null) this.#byNewest.set(newest, list);
    const array = Object.freeze(list.messages.slice()) as readonly M[];
    shown.set(array, list);
    return array;
  }

  /** The longest known list that these messages begin with. */
  #find(messages: readonly unknown[]): GrowingList | undefined {
    for (let length = messages.length; length > 0; length--) {
      const list = this.#byNewest.get(messages[length - 1] as object);
      if (list?.messages.length === length && begins(messages, list.messages)) return list;
    }
    return undefined;
  }
}

function begins(messages: readonly unknown[], beginning: readonly unknown[]): boolean {
  for (let at = 0; at < beginning.length; at++) if (messages[at] !== beginning[at]) return false;
  return true;
}

/** The lists of one owner, kept apart so that lists of others with the same newest message do not collide. */
export function listsOf(owner: object, all: WeakMap<object, GrowingLists>): GrowingLists {
  const lists = all.get(owner) ?? new GrowingLists();
  all.set(owner, lists);
  return lists;
}
