import { invalidOption, show, type TurnkeepError } from "../errors.ts";
import type { DriverCalls } from "./driver-calls.ts";
import type { KeyCodec, KeyOwner } from "./key-value-keys.ts";
import type { KeyValueEntry, KeyValueStoreOptions } from "./key-value-options.ts";

/** How many keys a listing requests, and how many calls are under way at once. */
const pageSize = 50;

/** How many keys it requests at most behind a page that held no memory: thousands of segments may stand side by side. */
const mostKeys = 1_000;

/**
 * The hooks under one signal, for a memory or a segment of it. What they throw is told as a store's error, and what they
 * return is checked.
 */
export interface KeyValueCalls<R> {
  get(memoryId: string, segment?: string): Promise<KeyValueEntry<R> | undefined>;
  /** Writes; without a revision only where nothing is. Returns whether it did. */
  set(owner: KeyOwner, value: string, revision: R | undefined): Promise<boolean>;
  /** Deletes; with a revision, only that. Returns whether it did. */
  remove(owner: KeyOwner, revision: R | undefined): Promise<boolean>;
  /** What stands under the keys after that of a memory, by pages of the database; nothing if it cannot list. */
  ownersAfter(memoryId: string | undefined): AsyncGenerator<readonly KeyOwner[]>;
  /** Counts several calls as one, so that `close()` also waits between them. */
  together<T>(calls: () => Promise<T>): Promise<T>;
}

export function keyValueCalls<R extends {}>(
  options: KeyValueStoreOptions<R>,
  { encode, decode }: KeyCodec,
  run: DriverCalls["run"],
  signal: AbortSignal | undefined,
): KeyValueCalls<R> {
  const call = { signal };
  const keyOf = ({ memoryId, segment }: KeyOwner): string => encode(memoryId, segment);
  return {
    async get(memoryId, segment) {
      const entry = (await run(() => options.get(encode(memoryId, segment), call), signal)) ?? undefined;
      if (entry === undefined || (typeof entry.value === "string" && entry.revision != null)) return entry;
      throw wrongAnswer("get", "{ value, revision }, with a text as value, or undefined");
    },

    async set(owner, value, revision) {
      const written = await run(() => options.compareAndSet(keyOf(owner), value, revision, call), signal);
      if (typeof written === "boolean") return written;
      throw wrongAnswer("compareAndSet", "true or false: whether it wrote the value");
    },

    async remove(owner, revision) {
      const removed = await run(() => options.delete(keyOf(owner), revision, call), signal);
      if (typeof removed === "boolean") return removed;
      throw wrongAnswer("delete", "true or false: whether it deleted the entry");
    },

    async *ownersAfter(memoryId) {
      const { list } = options;
      if (list === undefined) return;
      let limit = pageSize;
      for (let last = memoryId === undefined ? undefined : encode(memoryId); ; ) {
        const page = { after: last, limit };
        const keys = await run(() => list(page, call), signal);
        if (!isTexts(keys)) throw wrongAnswer("list", "an array of keys");
        const next = keys.at(-1);
        if (next === undefined) return;
        if (next === last) throw wrongAnswer("list", `keys that come after ${show(last)}`);
        last = next;
        const owners = keys.map(decode).filter((owner) => owner !== undefined);
        const holdsMemory = owners.some(({ segment }) => segment === undefined);
        limit = holdsMemory ? pageSize : Math.min(2 * limit, mostKeys);
        yield owners;
      }
    },

    together: (calls) => run(calls, signal),
  };
}

/** What a call returns for each of the items, so many of them at once. */
export async function inPortions<T, U>(items: readonly T[], call: (item: T) => Promise<U>): Promise<U[]> {
  const answers: U[] = [];
  for (let start = 0; start < items.length; start += pageSize) {
    answers.push(...(await Promise.all(items.slice(start, start + pageSize).map(call))));
  }
  return answers;
}

/** Names no value: a hook's answer may hold content. */
function wrongAnswer(hook: string, expected: string): TurnkeepError {
  return invalidOption(`keyValueStore: the hook ${hook}() must return ${expected}`);
}

function isTexts(keys: unknown): keys is readonly string[] {
  return Array.isArray(keys) && keys.every((key) => typeof key === "string");
}
