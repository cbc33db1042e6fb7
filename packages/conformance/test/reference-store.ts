import type {
  ChatMemoryStore,
  MemorySnapshot,
  MemoryUpdate,
  MessageState,
  StoreCapabilities,
  StoredMessage,
} from "@turnkeep/core";
import {
  conflictError,
  corruptError,
  defineStore,
  expiryOf,
  type FoldedUpdate,
  foldUpdate,
  isInPlace,
  memoryFullError,
  storedRows,
  storeError,
  throwIfAborted,
  ttl,
  unreadableMessage,
} from "@turnkeep/core/store-kit";
import { type ConformanceHarness, failing, type HarnessCreateOptions } from "../src/index.ts";

export type Row = StoredMessage & { state: MessageState };

export interface StoredMemory {
  version: string;
  nextSeq: number;
  owner?: string;
  head?: string;
  data?: string;
  updatedAt: number;
  /** Greater than that of each memory that was written to before. */
  active: number;
  expiresAt: number;
  rows: Row[];
}

type Content = Omit<StoredMemory, "updatedAt" | "active" | "expiresAt">;

/** What all clients share: the plainest database there is. */
export interface Database {
  memories: Map<string, StoredMemory>;
  now(): number;
  /** Rises with each write. */
  tick(): number;
  /** Called before each write; one that throws ends the process that writes. */
  beforeWrite?(): void;
  /** Called after each write; one that throws loses its answer. */
  afterWrite?(): void;
  /** Called with what each call sends; one that throws has reached nobody. */
  sent?(content: unknown): void;
  /** Where it is. */
  address?: string;
}

export const fullCapabilities: StoreCapabilities = {
  durable: true,
  shared: true,
  history: true,
  list: true,
  newest: true,
  ttl: true,
  delta: true,
  readSteps: 1,
  maxMessageBytes: 2 * 1024 * 1024,
};

/** A database as a store gets it that did not open it. */
export interface GivenDatabase extends Database {
  disconnect(): void;
  settings: { timeZone: string };
}

/** What a text that is no record reads as. */
function damagedMemory(text: string): StoredMemory {
  try {
    return JSON.parse(text) as StoredMemory;
  } catch {
    return text as unknown as StoredMemory;
  }
}

/** A memory, then each of its rows, as a database with a record for each would hold them. */
function recordsOf(memory: StoredMemory | undefined): unknown[] {
  return Array.isArray(memory?.rows) ? [memory, ...memory.rows] : [memory ?? null];
}

/** Loses a row: the head still knows which messages are live, and nobody those that had left. */
function loseRow(memory: StoredMemory | undefined, index: number): void {
  const row = memory?.rows[index];
  if (memory === undefined || row === undefined) return;
  const left: Row[] = row.state === "live" ? [{ ...unreadableMessage(row.seq), state: row.state }] : [];
  memory.rows.splice(index, 1, ...left);
}

/** A round trip to a database. */
export function roundTrip(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** One client of a database: a correct store, written for reading, with a round trip in each call. */
export function referenceStore(
  database: Database,
  capabilities: StoreCapabilities,
  { ttlMs }: HarnessCreateOptions,
): ChatMemoryStore {
  if (ttlMs !== undefined) ttl("ttlMs", ttlMs);
  const connection = {
    under: (signal: AbortSignal | undefined) => async (content?: unknown) => {
      await roundTrip();
      database.sent?.(content);
      throwIfAborted(signal);
    },
    close: async () => {},
  };

  function find(memoryId: string): StoredMemory | undefined {
    const memory = database.memories.get(memoryId);
    if (memory !== undefined && !Array.isArray(memory?.rows)) throw corruptError(memoryId, "it has no rows");
    return memory !== undefined && memory.expiresAt > database.now() ? memory : undefined;
  }

  function write(apply: () => void): void {
    database.beforeWrite?.();
    apply();
    database.afterWrite?.();
  }

  const isReadable = (memoryId: string): boolean => Array.isArray(database.memories.get(memoryId)?.rows);

  return defineStore(
    { name: "referenceStore", capabilities, connection },
    {
      async read(arrive, memoryId, known) {
        await arrive();
        const memory = find(memoryId);
        return memory && snapshotOf(memory, known);
      },

      async update(arrive, memoryId, update) {
        await arrive(update);
        const memory = find(memoryId);
        const stored = storedRows(memory?.nextSeq ?? 1, memory?.rows ?? []);
        if (isInPlace(memoryId, update, memory?.version ?? null, stored)) return;
        const now = database.now();
        const expiresAt = expiryOf(update, ttlMs, now) ?? Number.POSITIVE_INFINITY;
        const times = { updatedAt: now, active: database.tick(), expiresAt };
        const changed = { ...withChange(memory, update), ...times };
        checkRoom(memoryId, changed, capabilities.maxMemoryBytes);
        write(() => database.memories.set(memoryId, changed));
      },

      async remove(arrive, memoryId, expected) {
        await arrive();
        if (expected !== undefined && (find(memoryId)?.version ?? expected) !== expected)
          throw conflictError(memoryId, expected);
        write(() => database.memories.delete(memoryId));
      },

      async history(arrive, memoryId, { after, before, order, limit, states, ids }) {
        await arrive();
        const asked = (find(memoryId)?.rows ?? []).filter(
          ({ seq, id, state }) =>
            seq > after && seq < before && states.includes(state) && (ids?.includes(id) ?? true),
        );
        if (order === "descending") asked.reverse();
        return structuredClone({ messages: asked.slice(0, limit), hasMore: asked.length > limit });
      },

      async list(arrive, { owner, order, after }) {
        await arrive();
        const found = [...database.memories.keys()].flatMap((memoryId) => {
          const memory = isReadable(memoryId) ? find(memoryId) : undefined;
          if (memory === undefined || (owner !== undefined && memory.owner !== owner)) return [];
          const { updatedAt, data, active } = memory;
          const place =
            order === "newest" ? String(Number.MAX_SAFE_INTEGER - active).padStart(16, "0") : memoryId;
          return { memoryId, owner: memory.owner, updatedAt, data, position: place };
        });
        found.sort((one, other) => (one.position < other.position ? -1 : 1));
        return found.filter(({ position }) => after === undefined || position > after);
      },

      async sweep(arrive) {
        await arrive();
        const expired = [...database.memories.keys()].filter(
          (id) => isReadable(id) && find(id) === undefined,
        );
        for (const id of expired) database.memories.delete(id);
        return expired.length;
      },
    },
  ).store;
}

/** Refuses what would exceed the declared limit of a memory. */
function checkRoom(memoryId: string, memory: StoredMemory, limit: number | undefined): void {
  if (limit === undefined) return;
  const bytes = Buffer.byteLength(JSON.stringify(memory));
  if (bytes > limit) throw memoryFullError(memoryId, bytes, limit);
}

function snapshotOf(
  { version, nextSeq, owner, head, data, rows }: StoredMemory,
  known?: string,
): MemorySnapshot {
  const messages = rows.filter((row) => row.state === "live").map(({ state: _, ...message }) => message);
  return {
    version,
    nextSeq,
    ...(owner === undefined ? {} : { owner }),
    ...(head === undefined ? {} : { head }),
    ...(data === undefined ? {} : { data }),
    ...(version === known ? { messages: [], unchanged: true } : { messages }),
  };
}

/** What a memory holds after an update whose `expected` was its version. */
export function applied(memory: StoredMemory | undefined, update: MemoryUpdate): Content {
  return withChange(memory, foldUpdate(update));
}

function withChange(memory: StoredMemory | undefined, update: FoldedUpdate): Content {
  const rows = new Map<number, FoldedUpdate["replaced"][number]>(memory?.rows.map((row) => [row.seq, row]));
  for (const row of [...update.insert, ...update.replaced]) rows.set(row.seq, row);
  for (const { seq, state } of update.moved) {
    const row = rows.get(seq);
    if (row !== undefined) rows.set(seq, { ...row, state });
  }
  const owner = update.owner ?? memory?.owner;
  const head = update.head ?? memory?.head;
  const data = update.data ?? memory?.data;
  return {
    version: update.version,
    nextSeq: update.nextSeq,
    ...(owner === undefined ? {} : { owner }),
    ...(head === undefined ? {} : { head }),
    ...(data === undefined ? {} : { data }),
    rows: [...rows.values()].filter((row) => row.state !== "removed").sort((a, b) => a.seq - b.seq),
  };
}

export interface ReferenceOptions {
  readonly capabilities?: Partial<StoreCapabilities> | undefined;
  /** Makes a broken client of a correct one. */
  readonly wrap?:
    | ((base: ChatMemoryStore, database: Database, options: HarnessCreateOptions) => Partial<ChatMemoryStore>)
    | undefined;
  /** Replaces the options that a client is made with. */
  readonly prepare?: ((options: HarnessCreateOptions) => HarnessCreateOptions) | undefined;
  /** What a restart does to the database. */
  readonly reopen?: ((database: Database) => void) | undefined;
  /** Gives the database a clock that nobody can move. */
  readonly realTime?: boolean | undefined;
}

/** A harness over one database with a clock that the kit moves. */
export function referenceHarness(options: ReferenceOptions = {}): ConformanceHarness {
  const { capabilities, wrap, prepare = (given) => given, reopen, realTime } = options;
  let offset = 0;
  const memories = new Map<string, StoredMemory>();
  // A clock that is not this process's `Date`.
  const clock = () => Math.floor(performance.timeOrigin + performance.now()) + offset;
  let writes = 0;
  const shared: Database = { memories, now: clock, tick: () => ++writes };
  const declared = { ...fullCapabilities, ...capabilities };
  const open = (database: Database, options: HarnessCreateOptions): ChatMemoryStore => {
    const base = referenceStore(database, declared, options);
    return { ...base, ...wrap?.(base, database, options) };
  };
  return {
    create: (given) => open(declared.shared ? shared : { ...shared, memories: new Map() }, prepare(given)),
    reopen: () => reopen?.(shared),
    advance: realTime
      ? undefined
      : (ms) => {
          offset += ms;
        },
    // Who shares nothing has no database that could be looked into.
    rawRead: declared.shared
      ? (memoryId) => recordsOf(memories.get(memoryId)).map((record) => JSON.stringify(record))
      : undefined,
    rawWrite: declared.shared
      ? (memoryId, [text = ""]) => void memories.set(memoryId, damagedMemory(text))
      : undefined,
    rawRemove: declared.shared
      ? (memoryId, index) =>
          index === 0 ? void memories.delete(memoryId) : loseRow(memories.get(memoryId), index - 1)
      : undefined,
    fault(options) {
      const fault = failing(options);
      let answered = () => {};
      const told = (call: () => void): void => {
        try {
          call();
        } catch (error) {
          throw storeError("referenceStore", error);
        }
      };
      const beforeWrite = () =>
        told(() => {
          answered = fault.write();
        });
      return open({ ...shared, beforeWrite, afterWrite: () => told(answered) }, {});
    },
    unreachable() {
      const secret = "s3cret-of-the-address";
      const address = `reference://app:${secret}@127.0.0.1`;
      const sent = () => {
        throw storeError("referenceStore", new Error("connect ECONNREFUSED 127.0.0.1"));
      };
      return { store: open({ ...shared, address, sent }, {}), secret };
    },
    counted() {
      let [steps, bytes] = [0, 0];
      const sent = (content: unknown) => {
        steps++;
        bytes += JSON.stringify(content)?.length ?? 0;
      };
      return { store: open({ ...shared, sent }, {}), count: () => ({ steps, bytes }) };
    },
    databaseNow: clock,
    given() {
      let connected = true;
      const client: GivenDatabase = {
        ...(declared.shared ? shared : { ...shared, memories: new Map() }),
        disconnect: () => {
          connected = false;
        },
        settings: { timeZone: "local" },
      };
      return { store: open(client, {}), isOpen: () => connected, settings: () => ({ ...client.settings }) };
    },
  };
}
