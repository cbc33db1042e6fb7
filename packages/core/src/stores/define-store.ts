import { throwIfAborted } from "../abort.ts";
import { closedError, invalidOption, unsupportedError } from "../errors.ts";
import type {
  CallOptions,
  ChatMemoryStore,
  HistoryPage,
  MemorySnapshot,
  StoreCapabilities,
} from "../store-contract.ts";
import { checkDelete, checkMemoryId, checkUpdate } from "./checks.ts";
import { type FoldedUpdate, foldUpdate } from "./fold-update.ts";
import {
  type ListedMemory,
  type ListPositions,
  listPage,
  type NormalHistoryQuery,
  type NormalListQuery,
  normalizeHistoryQuery,
  normalizeListQuery,
} from "./queries.ts";

/** A store's connection to its database. The driver's errors come back as Turnkeep's. */
export interface StoreConnection<Calls> {
  /** What a method makes its calls with; their wait ends when the signal fires. */
  under(signal: AbortSignal | undefined): Calls;
  /** Waits for the calls that are under way, then closes what the store opened. Called once. */
  close(): Promise<void>;
}

/** What a store is, besides what it does. */
export type StoreDefinition<Calls> = {
  /** The factory, as errors show it: `"postgresStore"`. */
  readonly name: string;
  readonly capabilities: StoreCapabilities;
  readonly connection: StoreConnection<Calls>;
  /** The form of the positions that `list` answers in each order, where a text would not fit. Default: any text. */
  readonly positions?: ListPositions | undefined;
};

/**
 * What only this database knows. Every argument has been checked and belongs to the store: whatever the caller does to
 * his own changes nothing. A method that never waits may return its answer itself.
 */
export type StoreMethods<Calls> = {
  /** What is live; `undefined`: no such memory. `known` is the version that the caller holds: see `ReadOptions`. */
  read(calls: Calls, memoryId: string, known: string | undefined): OrNone<MemorySnapshot>;
  /** Applies the update whole, or throws and has changed nothing. */
  update(calls: Calls, memoryId: string, update: FoldedUpdate): void | Promise<void>;
  /** Deletes the memory; with `expected`, only at that version: see `DeleteOptions`. */
  remove(calls: Calls, memoryId: string, expected: string | undefined): void | Promise<void>;
  /** One page; `undefined`: no such memory. Only for a store without the capability `history` it may be left out. */
  history?(calls: Calls, memoryId: string, query: NormalHistoryQuery): OrNone<HistoryPage>;
  /**
   * The memories behind a position, at least one more than `limit` if there are more. Only for a store without the
   * capability `list` it may be left out.
   */
  list?(calls: Calls, query: NormalListQuery): readonly ListedMemory[] | Promise<readonly ListedMemory[]>;
  /** Answers how many memories or records it removed. */
  sweep(calls: Calls): number | Promise<number>;
};

/** What a method answers of a memory, if there is one. */
type OrNone<T> = T | undefined | Promise<T | undefined>;

/** A store, and how a further method of it begins, such as `migrate()`. */
export type DefinedStore<Calls> = {
  readonly store: ChatMemoryStore;
  /** What the method makes its calls with. `CLOSED` after `close()`, `ABORTED` if the caller's signal has fired. */
  enter(options: CallOptions | undefined): Calls;
};

/**
 * Makes a store of what only its database knows. Every method checks, in this order: whether the store is closed, whether
 * the caller's signal has fired, the memory id, and its further arguments; only then the database is asked. An update is
 * a copy, folded into the change of each row; queries have their defaults; cursors are read and written here.
 *
 * Errors, in calls: `CLOSED`, `ABORTED`, `INVALID_OPTION`, `MESSAGE_TOO_LARGE`, `UNSUPPORTED`, and those of the methods.
 *
 * @example
 * ```ts
 * import type { ChatMemoryStore } from "@turnkeep/core";
 * import { defineStore, driverCalls, isInPlace, memorySnapshot, storedRows } from "@turnkeep/core/store-kit";
 *
 * // One memory that has a version and nothing else.
 * let version: string | null = null;
 * const { run, settled } = driverCalls("tinyStore");
 * const connection = { under: (signal?: AbortSignal) => (call: () => void) => run(call, signal), close: settled };
 * const capabilities = {
 *   durable: false, shared: false, history: false, list: false, newest: false, ttl: false, delta: true, readSteps: 1,
 *   maxMessageBytes: 1024 * 1024,
 * } as const;
 *
 * const { store }: { store: ChatMemoryStore } = defineStore({ name: "tinyStore", capabilities, connection }, {
 *   read: () => (version === null ? undefined : memorySnapshot({ version, nextSeq: 1 }, [])),
 *   async update(run, memoryId, update) {
 *     if (isInPlace(memoryId, update, version, storedRows(1, []))) return;
 *     await run(() => {
 *       version = update.version;
 *     });
 *   },
 *   remove: () => {
 *     version = null;
 *   },
 *   sweep: () => 0,
 * });
 * ```
 */
export function defineStore<Calls>(
  { name, capabilities, connection, positions }: StoreDefinition<Calls>,
  methods: StoreMethods<Calls>,
): DefinedStore<Calls> {
  let closing: Promise<void> | undefined;

  function enter(options: CallOptions | undefined): Calls {
    if (closing !== undefined) throw closedError(name);
    throwIfAborted(options?.signal);
    return connection.under(options?.signal);
  }

  function enterFor(memoryId: string, options: CallOptions | undefined): Calls {
    const calls = enter(options);
    checkMemoryId(memoryId);
    return calls;
  }

  function close(): Promise<void> {
    closing ??= connection.close();
    return closing;
  }

  for (const method of ["history", "list"] as const) {
    if (capabilities[method] && methods[method] === undefined) {
      throw invalidOption(
        `${name} declares the capability ${method}, and has no method for it: add ${method}()`,
      );
    }
  }

  const store: ChatMemoryStore = {
    capabilities,

    async getMessages(memoryId, options) {
      const calls = enterFor(memoryId, options);
      return (
        (await methods.read(calls, memoryId, options?.known)) ?? { version: null, nextSeq: 1, messages: [] }
      );
    },

    async updateMessages(memoryId, update, options) {
      const calls = enterFor(memoryId, options);
      checkUpdate(update, capabilities);
      if (update.ttlMs !== undefined && !capabilities.ttl)
        throw unsupportedError(name, "the ttlMs of an update");
      return methods.update(calls, memoryId, foldUpdate(update, capabilities));
    },

    async deleteMessages(memoryId, options) {
      const calls = enterFor(memoryId, options);
      checkDelete(options?.expected);
      return methods.remove(calls, memoryId, options?.expected);
    },

    async getHistory(memoryId, query, options) {
      const calls = enterFor(memoryId, options);
      const normal = normalizeHistoryQuery(query);
      if (!capabilities.history || methods.history === undefined)
        throw unsupportedError(name, "getHistory()");
      return (await methods.history(calls, memoryId, normal)) ?? { messages: [], hasMore: false };
    },

    async listMemories(query, options) {
      const calls = enter(options);
      const normal = normalizeListQuery(query, positions);
      if (!capabilities.list || methods.list === undefined) throw unsupportedError(name, "listMemories()");
      if (normal.order === "newest" && !capabilities.newest)
        throw unsupportedError(name, 'the order "newest"');
      return listPage(await methods.list(calls, normal), normal);
    },

    async sweep(options) {
      return { removed: await methods.sweep(enter(options)) };
    },

    close,
    [Symbol.asyncDispose]: close,
  };
  return { store, enter };
}
