import type {
  ChatMemoryStore,
  MemorySnapshot,
  MemoryUpdate,
  MessageState,
  StoreCapabilities,
  StoredMessage,
} from "@turnkeep/core";
import {
  checkMemoryId,
  checkTtl,
  checkUpdate,
  closedError,
  conflictError,
  corruptError,
  encodeCursor,
  foldUpdate,
  isInPlace,
  normalizeHistoryQuery,
  normalizeListQuery,
  storedRows,
  TurnkeepError,
  throwIfAborted,
  unreadableMessage,
  unsupportedError,
} from "@turnkeep/core/store-kit";
import type { ConformanceHarness, HarnessCreateOptions } from "../src/index.ts";

export type Row = StoredMessage & { state: MessageState };

export interface StoredMemory {
  version: string;
  nextSeq: number;
  owner?: string;
  head?: string;
  updatedAt: number;
  expiresAt: number;
  rows: Row[];
}

/** What all clients share: the plainest database there is. */
export interface Database {
  memories: Map<string, StoredMemory>;
  now(): number;
  /** Called before each write; one that throws ends the process that writes. */
  beforeWrite?(): void;
}

export const fullCapabilities: StoreCapabilities = {
  durable: true,
  shared: true,
  history: true,
  list: true,
  ttl: true,
  delta: true,
  readSteps: 1,
  maxMessageBytes: 2 * 1024 * 1024,
};

/** A database as a store gets it that did not open it. */
export interface GivenDatabase extends Database {
  disconnect(): void;
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
  checkTtl(ttlMs);
  let closed = false;

  async function enter(signal: AbortSignal | undefined): Promise<void> {
    if (closed) throw closedError("referenceStore");
    throwIfAborted(signal);
    await roundTrip();
    throwIfAborted(signal);
  }

  async function enterMemory(memoryId: string, signal: AbortSignal | undefined): Promise<void> {
    checkMemoryId(memoryId);
    await enter(signal);
  }

  function find(memoryId: string): StoredMemory | undefined {
    const memory = database.memories.get(memoryId);
    if (memory !== undefined && !Array.isArray(memory?.rows)) throw corruptError(memoryId, "it has no rows");
    return memory !== undefined && memory.expiresAt > database.now() ? memory : undefined;
  }

  const isReadable = (memoryId: string): boolean => Array.isArray(database.memories.get(memoryId)?.rows);

  const store: ChatMemoryStore = {
    capabilities,

    async getMessages(memoryId, options) {
      await enterMemory(memoryId, options?.signal);
      return snapshotOf(find(memoryId), options?.known);
    },

    async updateMessages(memoryId, given, options) {
      checkUpdate(given, capabilities);
      const update = structuredClone(given);
      await enterMemory(memoryId, options?.signal);
      const found = find(memoryId);
      const stored = storedRows(found?.nextSeq ?? 1, found?.rows ?? []);
      if (isInPlace(memoryId, foldUpdate(update), found?.version ?? null, stored)) return;
      const now = database.now();
      const expiresAt = ttlMs === undefined ? Number.POSITIVE_INFINITY : now + ttlMs;
      const history = capabilities.history;
      database.beforeWrite?.();
      database.memories.set(memoryId, { ...applied(found, update, history), updatedAt: now, expiresAt });
    },

    async deleteMessages(memoryId, options) {
      await enterMemory(memoryId, options?.signal);
      const { expected } = options ?? {};
      if (expected !== undefined && (find(memoryId)?.version ?? expected) !== expected)
        throw conflictError(memoryId, expected);
      database.memories.delete(memoryId);
    },

    async getHistory(memoryId, query, options) {
      const { after, before, order, limit, states, ids } = structuredClone(normalizeHistoryQuery(query));
      await enterMemory(memoryId, options?.signal);
      if (!capabilities.history) throw unsupportedError("referenceStore", "getHistory");
      const found = (find(memoryId)?.rows ?? []).filter(
        ({ seq, id, state }) =>
          seq > after && seq < before && states.includes(state) && (ids?.includes(id) ?? true),
      );
      if (order === "descending") found.reverse();
      return structuredClone({ messages: found.slice(0, limit), hasMore: found.length > limit });
    },

    async listMemories(query, options) {
      const { owner, after = "", limit } = normalizeListQuery(query);
      await enter(options?.signal);
      if (!capabilities.list) throw unsupportedError("referenceStore", "listMemories");
      const ids = [...database.memories.keys()].sort().filter((id) => {
        const memory = isReadable(id) ? find(id) : undefined;
        return id > after && memory !== undefined && (owner === undefined || memory.owner === owner);
      });
      const memories = ids.slice(0, limit).map((memoryId) => {
        const memory = database.memories.get(memoryId) as StoredMemory;
        const entry = { memoryId, updatedAt: memory.updatedAt };
        return memory.owner === undefined ? entry : { ...entry, owner: memory.owner };
      });
      const last = memories.at(-1);
      return ids.length > limit && last !== undefined
        ? { memories, cursor: encodeCursor(last.memoryId) }
        : { memories };
    },

    async sweep(options) {
      await enter(options?.signal);
      const expired = [...database.memories.keys()].filter((id) => isReadable(id) && find(id) === undefined);
      for (const id of expired) database.memories.delete(id);
      return { removed: expired.length };
    },

    async close() {
      closed = true;
    },

    [Symbol.asyncDispose]: () => store.close(),
  };
  return store;
}

export function snapshotOf(memory: StoredMemory | undefined, known?: string): MemorySnapshot {
  if (memory === undefined) return { version: null, nextSeq: 1, messages: [] };
  const { version, nextSeq, owner, head, rows } = memory;
  const messages = rows.filter((row) => row.state === "live").map(({ state: _, ...message }) => message);
  return {
    version,
    nextSeq,
    ...(owner === undefined ? {} : { owner }),
    ...(head === undefined ? {} : { head }),
    ...(version === known ? { messages: [], unchanged: true } : { messages }),
  };
}

/** What a memory holds after an update whose `expected` was its version. */
export function applied(
  before: StoredMemory | undefined,
  update: MemoryUpdate,
  history = true,
): Omit<StoredMemory, "updatedAt" | "expiresAt"> {
  const rows = new Map(before?.rows.map((row) => [row.seq, row]));
  const folded = foldUpdate(update, { history });
  for (const row of [...folded.insert, ...folded.rewrite]) rows.set(row.seq, row);
  for (const { seq, state } of folded.setState) {
    const row = rows.get(seq);
    if (row !== undefined) rows.set(seq, { ...row, state });
  }
  for (const seq of folded.remove) rows.delete(seq);
  const owner = before === undefined ? update.owner : before.owner;
  const head = update.head ?? before?.head;
  return {
    version: update.version,
    nextSeq: update.nextSeq,
    ...(owner === undefined ? {} : { owner }),
    ...(head === undefined ? {} : { head }),
    rows: [...rows.values()].sort((a, b) => a.seq - b.seq),
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
  const shared: Database = { memories, now: () => Date.now() + offset };
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
    fault({ step }) {
      let left = step;
      const beforeWrite = () => {
        if (--left <= 0) throw new TurnkeepError("STORE_UNAVAILABLE", "the process died");
      };
      return open({ ...shared, beforeWrite }, {});
    },
    given() {
      let connected = true;
      const client: GivenDatabase = {
        ...(declared.shared ? shared : { ...shared, memories: new Map() }),
        disconnect: () => {
          connected = false;
        },
      };
      return { store: open(client, {}), isOpen: () => connected };
    },
  };
}
