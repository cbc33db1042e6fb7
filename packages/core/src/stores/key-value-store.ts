import { conflictError, invalidOption, memoryFullError, show, type TurnkeepError } from "../errors.ts";
import { callback, integer, oneOf } from "../option-checks.ts";
import { type Fields, optional, takeMembers } from "../option-fields.ts";
import type { ChatMemoryStore } from "../store-contract.ts";
import { ttl } from "./checks.ts";
import { defineStore } from "./define-store.ts";
import { driverCalls } from "./driver-calls.ts";
import { expiryOf, type FoldedUpdate } from "./fold-update.ts";
import { keyCodecs } from "./key-value-keys.ts";
import type { KeyValueEntry, KeyValueStoreOptions } from "./key-value-options.ts";
import {
  decodeRecord,
  encodeRecord,
  historyOf,
  type KeyValueRecord,
  snapshotOf,
  updateRecord,
} from "./key-value-record.ts";
import type { ListedMemory } from "./queries.ts";
import { utf8Length } from "./text.ts";

export type { KeyValueCall, KeyValueEntry, KeyValuePage, KeyValueStoreOptions } from "./key-value-options.ts";

const name = "keyValueStore";

const fields = {
  get: callback,
  compareAndSet: callback,
  delete: callback,
  list: optional(callback),
  close: optional(callback),
  durable: optional(oneOf(true, false), false),
  shared: optional(oneOf(true, false), false),
  keys: optional(oneOf("id", "hex"), "id"),
  maxMessageBytes: optional(integer(1)),
  maxMemoryBytes: optional(integer(1)),
  ttlMs: optional(ttl),
  now: optional(callback, Date.now),
} satisfies Fields<KeyValueStoreOptions<string>>;

/** How often an update retries if the value changed but the memory did not: another client swept it meanwhile. */
const maxAttempts = 5;

/** The largest message, unless an option says otherwise. */
const mostMessageBytes = 16 * 1024 * 1024;

/** How many keys a listing requests, and how many values it reads at once. */
const pageSize = 50;

/**
 * Makes a full store, history and expiry included, from any database that can swap one value if it has not changed: a
 * table of a SQL database, an object store with conditional writes, etcd, a file.
 *
 * Each memory is one value under its id (see `keys`): JSON text, layout 1, with `version`, `nextSeq`, `owner`, `head`,
 * `data`, `updatedAt`, `expiresAt` and all its messages. So every read and write costs as much as the whole memory, history
 * included (`delta: false`): right for conversations of hundreds of messages, not of hundreds of thousands. Where the
 * database limits a value, say so in `maxMemoryBytes`. An update is two operations, one `get` and one `compareAndSet`. A
 * record of a later layout is `UNSUPPORTED_VERSION`. A value that is not a record is `CORRUPT_RECORD` with the memory's
 * id; it is listed with `updatedAt` 0 and can be deleted.
 *
 * Errors: `INVALID_OPTION` for a missing hook, a bad option, and an unknown member (a class instance may have others,
 * such as its client). In calls, those of the store contract.
 *
 * @example
 * ```ts
 * import { createChatMemory, keyValueStore, user } from "@turnkeep/core";
 *
 * const values = new Map<string, string>();
 * const store = keyValueStore<string>({
 *   get: (key) => {
 *     const value = values.get(key);
 *     return value === undefined ? undefined : { value, revision: value };
 *   },
 *   compareAndSet: (key, value, revision) => {
 *     if (values.get(key) !== revision) return false;
 *     values.set(key, value);
 *     return true;
 *   },
 *   delete: (key, revision) => (revision === undefined || values.get(key) === revision) && values.delete(key),
 * });
 * await createChatMemory({ id: "user-1/chat-1", store }).add(user("Hello"));
 * ```
 */
export function keyValueStore<R extends {}>(options: KeyValueStoreOptions<R>): ChatMemoryStore {
  const taken = takeMembers<KeyValueStoreOptions<R>, typeof fields>(name, fields, options, `${name}.`);
  const { durable, shared, list, maxMemoryBytes, ttlMs, now } = taken;
  const half = maxMemoryBytes === undefined ? mostMessageBytes : Math.ceil(maxMemoryBytes / 2);
  const { maxMessageBytes = Math.min(mostMessageBytes, half) } = taken;
  const { encode: keyOf, decode: idOf } = keyCodecs[taken.keys];
  const capabilities = Object.freeze({
    durable,
    shared,
    history: true,
    list: list !== undefined,
    newest: false,
    ttl: true,
    delta: false,
    readSteps: 1 as const,
    maxMessageBytes,
    ...(maxMemoryBytes === undefined ? {} : { maxMemoryBytes }),
  });
  // Errors of hooks become errors of the store, and a signal ends the wait even if the hook ignores it.
  const { run, closeAfter } = driverCalls(name);
  const connection = {
    under: (signal: AbortSignal | undefined) => signal,
    close: () => closeAfter(() => options.close?.()),
  };

  async function get(
    memoryId: string,
    signal: AbortSignal | undefined,
  ): Promise<KeyValueEntry<R> | undefined> {
    const entry = (await run(() => options.get(keyOf(memoryId), { signal }), signal)) ?? undefined;
    if (entry === undefined || (typeof entry.value === "string" && entry.revision != null)) return entry;
    throw wrongAnswer("get", "{ value, revision }, with a text as value, or undefined");
  }

  /** The memory in an entry; `undefined` if there is none or it has expired. */
  function read(memoryId: string, entry: KeyValueEntry<R> | undefined): KeyValueRecord | undefined {
    const record = entry && decodeRecord(memoryId, entry.value);
    if (record?.expiresAt !== undefined && record.expiresAt <= now()) return undefined;
    return record;
  }

  /** The ids of memories after this one, by pages of the database. */
  async function* idsAfter(
    after: string | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly string[]> {
    const { list } = options;
    if (list === undefined) return;
    let last = after === undefined ? undefined : keyOf(after);
    while (true) {
      const page = { after: last, limit: pageSize };
      const keys = await run(() => list(page, { signal }), signal);
      if (!isTexts(keys)) throw wrongAnswer("list", "an array of keys");
      const next = keys.at(-1);
      if (next === undefined) return;
      if (next === last) throw wrongAnswer("list", `keys that come after ${show(last)}`);
      last = next;
      yield keys.map(idOf).filter((memoryId) => memoryId !== undefined);
    }
  }

  /** An entry of a listing. Values that cannot be read are listed too, so that they can be found and deleted. */
  async function listed(
    memoryId: string,
    owner: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ListedMemory | undefined> {
    const entry = await get(memoryId, signal);
    let record: Pick<KeyValueRecord, "owner" | "updatedAt" | "data"> | undefined;
    try {
      record = read(memoryId, entry);
    } catch {
      record = { owner: undefined, updatedAt: 0, data: undefined };
    }
    if (record === undefined || (owner !== undefined && record.owner !== owner)) return undefined;
    const { updatedAt, data } = record;
    return { memoryId, owner: record.owner, updatedAt, data, position: memoryId };
  }

  /** Deletes a memory's entry; with a revision, only that. Returns whether it did. */
  async function remove(
    memoryId: string,
    revision: R | undefined,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const removed = await run(() => options.delete(keyOf(memoryId), revision, { signal }), signal);
    if (typeof removed === "boolean") return removed;
    throw wrongAnswer("delete", "true or false: whether it deleted the entry");
  }

  /** Deletes the memory at that version, or what is left of one that has expired. */
  async function removeAt(
    memoryId: string,
    expected: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const entry = await get(memoryId, signal);
      if (entry === undefined) return;
      const record = read(memoryId, entry);
      if (record !== undefined && record.version !== expected) break;
      if (await remove(memoryId, entry.revision, signal)) return;
    }
    throw conflictError(memoryId, expected);
  }

  /** Removes the entry if it holds a memory that has expired, and nothing that began in its place. */
  async function sweepEntry(memoryId: string, signal: AbortSignal | undefined): Promise<boolean> {
    const entry = await get(memoryId, signal);
    if (entry === undefined || !isLeft(memoryId, entry)) return false;
    return remove(memoryId, entry.revision, signal);
  }

  /** The value of a record, if the database takes one so large. */
  function encoded(memoryId: string, record: KeyValueRecord): string {
    const value = encodeRecord(record);
    if (maxMemoryBytes === undefined) return value;
    const bytes = utf8Length(value);
    if (bytes > maxMemoryBytes) throw memoryFullError(memoryId, bytes, maxMemoryBytes);
    return value;
  }

  /** Whether an entry is left of an expired memory. One that cannot be read may be a memory. */
  function isLeft(memoryId: string, entry: KeyValueEntry<R>): boolean {
    try {
      return read(memoryId, entry) === undefined;
    } catch {
      return false;
    }
  }

  async function apply(
    memoryId: string,
    update: FoldedUpdate,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const entry = await get(memoryId, signal);
      const record = read(memoryId, entry);
      if (record?.version === update.version) return;
      if ((record?.version ?? null) !== update.expected) break;
      const updatedAt = now();
      const expiresAt = expiryOf(update, ttlMs, updatedAt);
      const value = encoded(memoryId, updateRecord(memoryId, record, update, { updatedAt, expiresAt }));
      const swap = () => options.compareAndSet(keyOf(memoryId), value, entry?.revision, { signal });
      if (await run(swap, signal)) return;
    }
    throw conflictError(memoryId, update.expected);
  }

  return defineStore<AbortSignal | undefined>(
    { name, capabilities, connection },
    {
      async read(signal, memoryId, known) {
        const record = read(memoryId, await get(memoryId, signal));
        return record && snapshotOf(record, known);
      },

      async update(signal, memoryId, update) {
        // One call for both, so that `close()` also waits between its read and its write.
        await run(() => apply(memoryId, update, signal), signal);
      },

      async remove(signal, memoryId, expected) {
        if (expected === undefined) await remove(memoryId, undefined, signal);
        else await run(() => removeAt(memoryId, expected, signal), signal);
      },

      async history(signal, memoryId, query) {
        const record = read(memoryId, await get(memoryId, signal));
        return record && historyOf(record, query);
      },

      async list(signal, { owner, after, limit }) {
        const found: ListedMemory[] = [];
        for await (const ids of idsAfter(after, signal)) {
          const some = await Promise.all(ids.map((memoryId) => listed(memoryId, owner, signal)));
          found.push(...some.filter((memory) => memory !== undefined));
          if (found.length > limit) break;
        }
        return found;
      },

      async sweep(signal) {
        let removed = 0;
        for await (const ids of idsAfter(undefined, signal)) {
          const swept = await Promise.all(ids.map((memoryId) => sweepEntry(memoryId, signal)));
          removed += swept.filter(Boolean).length;
        }
        return removed;
      },
    },
  ).store;
}

/** Names no value: a hook's answer may hold content. */
function wrongAnswer(hook: string, expected: string): TurnkeepError {
  return invalidOption(`${name}: the hook ${hook}() must return ${expected}`);
}

function isTexts(keys: unknown): keys is readonly string[] {
  return Array.isArray(keys) && keys.every((key) => typeof key === "string");
}
