import { conflictError, memoryFullError } from "../errors.ts";
import { uuidv7 } from "../message-id.ts";
import { callback, integer, oneOf } from "../option-checks.ts";
import { type Fields, optional, takeMembers } from "../option-fields.ts";
import type { ChatMemoryStore } from "../store-contract.ts";
import { ttl } from "./checks.ts";
import { defineStore } from "./define-store.ts";
import { driverCalls } from "./driver-calls.ts";
import { expiryOf, type FoldedUpdate, namedSeqs } from "./fold-update.ts";
import { inPortions, type KeyValueCalls, keyValueCalls } from "./key-value-calls.ts";
import {
  allNames,
  holding,
  holdingPage,
  openSegments,
  pageOf,
  removeSegments,
  sweepSegments,
} from "./key-value-history.ts";
import { keyCodecs, longestWithSegments, segmentsBy } from "./key-value-keys.ts";
import type { KeyValueEntry, KeyValueStoreOptions } from "./key-value-options.ts";
import {
  decodeRecord,
  encodeExpired,
  encodeRecord,
  type KeyValueRecord,
  readableRecord,
  snapshotOf,
  updateRecord,
} from "./key-value-record.ts";
import { packed } from "./key-value-segments.ts";
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

/** How many characters of history stand beside the live messages at most, and in a segment, if the database can list. */
const mostHistory = 32 * 1024;

/**
 * Makes a full store, history and expiry included, from any database that can swap one value if it has not changed: a
 * table of a SQL database, an object store with conditional writes, etcd, a file.
 *
 * Each memory is one value under its id (see `keys`): JSON text, layout 1, with `version`, `nextSeq`, `owner`, `head`,
 * `data`, `updatedAt`, `expiresAt` and its live messages. An update is one `get` and one `compareAndSet`, which read and write
 * all of that (`delta: false`). With `list`, up to 32 KB of history stand there too, and the rest in segments of that size, each
 * under a key of its own; so an append costs the same however long the history is, with a write more where it fills a
 * segment. Without `list`, all history stands in the value: right for conversations of hundreds of messages, not of
 * hundreds of thousands. Where the database limits a value, say so in `maxMemoryBytes`.
 *
 * A record of a later layout is `UNSUPPORTED_VERSION`. A value that is not a record is `CORRUPT_RECORD` with the memory's
 * id; it is listed with `updatedAt` 0 and can be deleted. In place of a segment that is lost there is one message without a
 * payload. `sweep` removes what has expired, and segments that interrupted calls have left.
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
  return storeOfSegments(options, mostHistory);
}

/** The store, with segments of another size. */
export function storeOfSegments<R extends {}>(
  options: KeyValueStoreOptions<R>,
  segmentSize: number,
): ChatMemoryStore {
  const taken = takeMembers<KeyValueStoreOptions<R>, typeof fields>(name, fields, options, `${name}.`);
  const { durable, shared, list, maxMemoryBytes, ttlMs, now } = taken;
  const half = maxMemoryBytes === undefined ? mostMessageBytes : Math.ceil(maxMemoryBytes / 2);
  const { maxMessageBytes = Math.min(mostMessageBytes, half) } = taken;
  // A character has three bytes at most.
  const size = Math.min(segmentSize, (maxMemoryBytes ?? Number.POSITIVE_INFINITY) / 4);
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
  type Calls = KeyValueCalls<R>;
  const connection = {
    under: (signal: AbortSignal | undefined): Calls =>
      keyValueCalls(options, keyCodecs[taken.keys], run, signal),
    close: () => closeAfter(() => options.close?.()),
  };

  function hasExpired({ expiresAt }: KeyValueRecord): boolean {
    return expiresAt !== undefined && expiresAt <= now();
  }

  /** The memory as it is; `undefined` if there is none or it has expired. */
  async function read(calls: Calls, memoryId: string): Promise<KeyValueRecord | undefined> {
    const entry = await calls.get(memoryId);
    const record = entry && decodeRecord(memoryId, entry.value);
    return record === undefined || hasExpired(record) ? undefined : record;
  }

  /** An entry of a listing. Values that cannot be read are listed too, so that they can be found and deleted. */
  async function listed(
    calls: Calls,
    memoryId: string,
    owner: string | undefined,
  ): Promise<ListedMemory | undefined> {
    const entry = await calls.get(memoryId);
    if (entry === undefined) return undefined;
    const record = readableRecord(memoryId, entry.value);
    if (record !== undefined && hasExpired(record)) return undefined;
    if (owner !== undefined && record?.owner !== owner) return undefined;
    const { updatedAt = 0, data } = record ?? {};
    return { memoryId, owner: record?.owner, updatedAt, data, position: memoryId };
  }

  /** Deletes an entry, with a revision only that, then the segments that it named. Returns whether it is gone. */
  async function removeEntry(
    calls: Calls,
    memoryId: string,
    { value }: KeyValueEntry<R>,
    revision: R | undefined,
  ): Promise<boolean> {
    const record = readableRecord(memoryId, value);
    const names = record && (await allNames(calls, memoryId, record));
    const removed = await calls.remove({ memoryId }, revision).catch(async (error: unknown) => {
      // Whoever repeats it finds nothing that names the segments.
      if ((await calls.get(memoryId)) !== undefined) throw error;
      return true;
    });
    // Of a delete that the hook's client has sent again by itself, the second is answered.
    if (!removed && (await calls.get(memoryId)) !== undefined) return false;
    await removeSegments(calls, memoryId, names ?? []);
    return true;
  }

  /** Deletes the memory; with `expected`, only at that version, or what is left of one that has expired. */
  async function removeMemory(calls: Calls, memoryId: string, expected: string | undefined): Promise<void> {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const entry = await calls.get(memoryId);
      if (entry === undefined) return;
      if (expected !== undefined) {
        const record = decodeRecord(memoryId, entry.value);
        if (!hasExpired(record) && record.version !== expected) break;
      }
      if (await removeEntry(calls, memoryId, entry, entry.revision)) return;
    }
    if (expected !== undefined) throw conflictError(memoryId, expected);
    const entry = await calls.get(memoryId);
    if (entry !== undefined) await removeEntry(calls, memoryId, entry, undefined);
  }

  /** Removes the entry if it is of a memory that has expired, and nothing that began in its place. */
  async function sweepEntry(calls: Calls, memoryId: string): Promise<boolean> {
    const entry = await calls.get(memoryId);
    // One that cannot be read may be a memory.
    const record = entry && readableRecord(memoryId, entry.value);
    return entry !== undefined && record !== undefined && hasExpired(record)
      ? removeEntry(calls, memoryId, entry, entry.revision)
      : false;
  }

  /** The texts of a record and of its new segments, if the database takes texts as large. */
  function encoded(
    memoryId: string,
    record: KeyValueRecord,
    base: string,
  ): { readonly value: string; readonly texts: ReadonlyMap<string, string> } {
    let bytes = 0;
    // Segments that a sweep could not find are not begun.
    const isWhole = list === undefined || utf8Length(memoryId) > longestWithSegments;
    for (const keep of isWhole ? [Number.POSITIVE_INFINITY] : [size, 0]) {
      const { texts, ...rows } = packed(record, { base, keep, size });
      const value = encodeRecord({ ...record, ...rows });
      if (maxMemoryBytes === undefined) return { value, texts };
      bytes = Math.max(...[value, ...texts.values()].map(utf8Length));
      if (bytes <= maxMemoryBytes) return { value, texts };
    }
    throw memoryFullError(memoryId, bytes, maxMemoryBytes as number);
  }

  /** Tries an update once. Returns whether it is in place; if not, somebody else has written. */
  async function attempt(calls: Calls, memoryId: string, update: FoldedUpdate): Promise<boolean> {
    const entry = await calls.get(memoryId);
    const there = entry && decodeRecord(memoryId, entry.value);
    const stored = there === undefined || hasExpired(there) ? undefined : there;
    if (stored?.version === update.version) return true;
    if ((stored?.version ?? null) !== update.expected) throw conflictError(memoryId, update.expected);
    const opened = stored && (await openSegments(calls, memoryId, stored, holding(namedSeqs(update))));
    if (stored !== undefined && opened === undefined) return false;
    const updatedAt = now();
    const times = { updatedAt, expiresAt: expiryOf(update, ttlMs, updatedAt) };
    const record = updateRecord(memoryId, stored && { ...stored, ...opened }, update, times);
    const { value, texts } = encoded(memoryId, record, there?.version ?? "");
    if (texts.size > 0) {
      // A sweep must be able to tell whether a segment may still be named, so there is something to write it over.
      if (entry === undefined) {
        await calls.set({ memoryId }, encodeExpired(uuidv7(), updatedAt), undefined);
        return false;
      }
      const write = ([segment, text]: [string, string]) => calls.set({ memoryId, segment }, text, undefined);
      const written = await inPortions([...texts], write);
      if (!written.every(Boolean)) return false;
    }
    const replaced = opened?.names ?? [];
    // Whoever repeats it, the hook's client too, finds it in place, and nothing that names what it has replaced.
    const isInPlace = async () =>
      replaced.length > 0 && (await read(calls, memoryId))?.version === update.version;
    const written = await calls.set({ memoryId }, value, entry?.revision).catch(async (error: unknown) => {
      if (await isInPlace()) return true;
      throw error;
    });
    const done = written || (await isInPlace());
    if (done) await removeSegments(calls, memoryId, replaced);
    else await sweepSegments(calls, memoryId, [...texts.keys()]);
    return done;
  }

  return defineStore<Calls>(
    { name, capabilities, connection },
    {
      async read(calls, memoryId, known) {
        const record = await read(calls, memoryId);
        return record && snapshotOf(record, known);
      },

      async update(calls, memoryId, update) {
        await calls.together(async () => {
          for (let count = 1; count <= maxAttempts; count++) {
            if (await attempt(calls, memoryId, update)) return;
          }
          throw conflictError(memoryId, update.expected);
        });
      },

      async remove(calls, memoryId, expected) {
        // Where nothing can be listed there are no segments.
        if (list === undefined && expected === undefined) await calls.remove({ memoryId }, undefined);
        else await calls.together(() => removeMemory(calls, memoryId, expected));
      },

      async history(calls, memoryId, query) {
        for (;;) {
          const record = await read(calls, memoryId);
          const opened = record && (await openSegments(calls, memoryId, record, holdingPage(query)));
          if (record === undefined || opened !== undefined) return opened && pageOf(opened, query);
        }
      },

      async list(calls, { owner, after, limit }) {
        const found: ListedMemory[] = [];
        for await (const owners of calls.ownersAfter(after)) {
          const memories = owners.filter(({ segment }) => segment === undefined);
          const some = await inPortions(memories, ({ memoryId }) => listed(calls, memoryId, owner));
          found.push(...some.filter((memory) => memory !== undefined));
          if (found.length > limit) break;
        }
        return found;
      },

      async sweep(calls) {
        let removed = 0;
        for await (const owners of calls.ownersAfter(undefined)) {
          const memories = owners.filter(({ segment }) => segment === undefined);
          const swept = await inPortions(memories, ({ memoryId }) => sweepEntry(calls, memoryId));
          removed += swept.filter(Boolean).length;
          for (const [memoryId, segments] of segmentsBy(owners)) {
            removed += await sweepSegments(calls, memoryId, segments);
          }
        }
        return removed;
      },
    },
  ).store;
}
