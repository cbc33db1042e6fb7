import type { MemoryCallOptions, PutRules, RemoveRules } from "./memory-call-options.ts";
import type { DataChange } from "./memory-data.ts";
import type { Each, Entry } from "./memory-entry.ts";
import type { HistoryMessage, MemoryHistoryPage, MemoryHistoryQuery } from "./memory-history.ts";
import type { ViewOptions } from "./memory-view.ts";

/**
 * What the function of a transaction works with. The changing calls mean what they mean on the memory, each after those
 * before it; nothing is written until the function has returned. Messages added directly one after the other are one
 * change, as by one `add`: the window evicts once for them, so if that makes room down to its `target`, other messages may
 * leave than after an `add` for each.
 */
export interface MemoryTransaction<M> {
  /**
   * Collects messages; returns their ids. A system message that turns out to be stored already is not added, so the id
   * returned for it belongs to no message.
   */
  add<Messages extends unknown[]>(...messages: Each<Messages, M | Entry<M>>): Each<Messages, string>;
  add(...messages: (M | Entry<M>)[]): string[];
  /** Collects a message that is to be the prompt, in its order among the others: see {@link ChatMemory.instruct}. */
  instruct(message: M | Entry<M>): string;
  /** See {@link ChatMemory.put}. A message of a branch that this transaction restores cannot be replaced: `UNSUPPORTED`. */
  put(id: string, message: M | Entry<M>, options?: PutRules<M>): void;
  /** See {@link ChatMemory.remove}. */
  remove(messageId: string, options?: RemoveRules): void;
  /** See {@link ChatMemory.rewind}. */
  rewind(messageId: string): void;
  /** See {@link ChatMemory.restore}. */
  restore(messageId: string): void;
  /** See {@link ChatMemory.compact}. Returns the id of the replacement. */
  compact(request: { readonly through: string; readonly replacement: M }): string;
  /** See {@link ChatMemory.set}. Returns the ids. */
  set(messages: readonly (M | Entry<M>)[]): string[];
  /** See {@link ChatMemory.update}. */
  update(data: DataChange): void;
  /** The view, with what was collected so far. Errors: also those of the collected changes. */
  messages(options?: ViewOptions<M>): Promise<M[]>;
  /** The live messages (see {@link ChatMemory.entries}), with what was collected so far. Errors: as `messages`. */
  entries(options?: MemoryCallOptions): Promise<HistoryMessage<M>[]>;
  /**
   * One page of what was said (see {@link ChatMemory.history}), with what was collected so far: after `restore`, the branch
   * that it brings back. Errors: as `messages`, and `UNSUPPORTED` if the store keeps no history.
   */
  history(query?: MemoryHistoryQuery): Promise<MemoryHistoryPage<M>>;
}
