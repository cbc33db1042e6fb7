import type { KeyValueStoreOptions } from "@turnkeep/core";

/**
 * The functions over a database of which `keyValueStore` makes a store, and which keys and values the database takes;
 * `list`, `keys` and `maxMemoryBytes` may be left out.
 */
export type KeyValueHooks<R extends {}> = Pick<
  KeyValueStoreOptions<R>,
  "get" | "compareAndSet" | "delete" | "list" | "keys" | "maxMemoryBytes"
>;

/** What a case works with: hooks of two clients, whose answers are promises. */
export interface HookContext {
  readonly one: TestHooks;
  /** Of a second client of the same data; the first one's again where there is none. */
  readonly two: TestHooks;
  /** A key that nobody has used, removed after the case. */
  key(): string;
  /** For each end a key that begins and ends with it, alike but for that; in digits, if the database asks for them. */
  keys(ends: readonly string[]): string[];
  /** The size of the largest value to try, in UTF-8 bytes. */
  readonly mostBytes: number;
}

/** Hooks as a case calls them: a revision is what a `get` answered. */
export interface TestHooks {
  get(key: string): Promise<{ readonly value: string; readonly revision: unknown } | undefined>;
  compareAndSet(key: string, value: string, revision: unknown): Promise<unknown>;
  delete(key: string, revision: unknown): Promise<unknown>;
  readonly list: ((page: { after: string | undefined; limit: number }) => Promise<unknown>) | undefined;
}

/** The same hooks, each of which answers a promise. */
export function testHooks<R extends {}>(hooks: KeyValueHooks<R>): TestHooks {
  const call = {};
  const { list } = hooks;
  return {
    get: async (key) => (await hooks.get(key, call)) ?? undefined,
    compareAndSet: async (key, value, revision) =>
      hooks.compareAndSet(key, value, revision as R | undefined, call),
    delete: async (key, revision) => hooks.delete(key, revision as R | undefined, call),
    list: list === undefined ? undefined : async (page) => list(page, call),
  };
}
