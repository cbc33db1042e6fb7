import { invalidOption } from "../errors.ts";
import type { CallOptions, ChatMemoryStore, StoreCapabilities } from "../store-contract.ts";
import { checkTtl, checkUpdate } from "./checks.ts";
import { lifecycle } from "./lifecycle.ts";
import { ProcessMemory } from "./process-memory.ts";
import {
  decodeCursor,
  type ListedMemory,
  listPage,
  normalizeHistoryQuery,
  normalizeListQuery,
} from "./queries.ts";
import { conflictError, unsupportedError } from "./store-errors.ts";
import { show } from "./text.ts";
import { Timeline } from "./timeline.ts";

/** A memory's position in the order in which memories began, as a cursor holds it. */
const place = /^[1-9]\d{0,15}$/;

export interface ProcessStoreOptions {
  /** Names the store in errors. */
  readonly name: string;
  readonly capabilities: StoreCapabilities;
  readonly ttlMs?: number | undefined;
  readonly now?: (() => number) | undefined;
  /** Throws if this id may not be used while `held` are there. */
  readonly admit?:
    | ((memoryId: string, held: { has(memoryId: string): boolean; size: number }) => void)
    | undefined;
}

interface Slot {
  readonly memoryId: string;
  /** Increases with each memory that begins; a listing's cursor. */
  readonly position: number;
  readonly memory: ProcessMemory;
}

/**
 * A store in this process. Every method does all its work synchronously, so calls take effect whole and in the order in
 * which they were made.
 */
export function processStore(options: ProcessStoreOptions): ChatMemoryStore {
  const { name, capabilities, ttlMs, now = Date.now, admit } = options;
  checkTtl(ttlMs);
  if (typeof now !== "function") throw invalidOption(`now must be a function, not ${show(now)}`);

  const slots = new Map<string, Slot>();
  const everybody = new Timeline<Slot>();
  const byOwner = new Map<string, Timeline<Slot>>();
  let positions = 0;
  const { enter, enterFor, close } = lifecycle(name, {
    under: () => undefined,
    async close() {
      for (const slot of [...slots.values()]) drop(slot);
    },
  });

  function enterAdmitted(memoryId: string, callOptions: CallOptions | undefined): void {
    enterFor(memoryId, callOptions);
    admit?.(memoryId, slots);
  }

  function isExpired({ memory }: Slot): boolean {
    return ttlMs !== undefined && now() - memory.updatedAt >= ttlMs;
  }

  function find(memoryId: string): ProcessMemory | undefined {
    const slot = slots.get(memoryId);
    if (slot === undefined) return undefined;
    if (!isExpired(slot)) return slot.memory;
    drop(slot);
    return undefined;
  }

  function keep(memoryId: string, memory: ProcessMemory): void {
    positions += 1;
    const slot: Slot = { memoryId, position: positions, memory };
    slots.set(memoryId, slot);
    everybody.append(slot.position, slot);
    if (memory.owner === undefined) return;
    const owned = byOwner.get(memory.owner) ?? new Timeline<Slot>();
    byOwner.set(memory.owner, owned);
    owned.append(slot.position, slot);
  }

  function drop({ memoryId, position, memory }: Slot): void {
    slots.delete(memoryId);
    everybody.delete(position);
    if (memory.owner === undefined) return;
    const owned = byOwner.get(memory.owner);
    owned?.delete(position);
    if (owned?.size === 0) byOwner.delete(memory.owner);
  }

  return {
    capabilities,

    async getMessages(memoryId, callOptions) {
      enterAdmitted(memoryId, callOptions);
      return find(memoryId)?.snapshot(callOptions?.known) ?? { version: null, nextSeq: 1, messages: [] };
    },

    async updateMessages(memoryId, update, callOptions) {
      enterAdmitted(memoryId, callOptions);
      checkUpdate(update, capabilities);
      const found = find(memoryId);
      const memory = found ?? new ProcessMemory(update.owner);
      memory.apply(memoryId, update, now());
      if (found === undefined) keep(memoryId, memory);
    },

    async deleteMessages(memoryId, callOptions) {
      enterAdmitted(memoryId, callOptions);
      const slot = slots.get(memoryId);
      if (slot === undefined) return;
      const expected = callOptions?.expected;
      if (expected !== undefined && !isExpired(slot) && slot.memory.version !== expected)
        throw conflictError(memoryId, expected);
      drop(slot);
    },

    async getHistory(memoryId, query, callOptions) {
      enterAdmitted(memoryId, callOptions);
      const normal = normalizeHistoryQuery(query);
      return find(memoryId)?.history(normal) ?? { messages: [], hasMore: false };
    },

    async listMemories(query, callOptions) {
      enter(callOptions);
      const { owner, cursor, limit } = normalizeListQuery(query);
      if (!capabilities.list) throw unsupportedError(name, "listMemories");
      const source = owner === undefined ? everybody : byOwner.get(owner);
      const after = cursor === undefined ? 0 : Number(decodeCursor(cursor, place));
      const found: ListedMemory[] = [];
      for (const slot of source?.between(after, Number.MAX_SAFE_INTEGER, "ascending") ?? []) {
        if (isExpired(slot)) continue;
        const { memoryId, position, memory } = slot;
        const { owner, updatedAt } = memory;
        found.push({ memoryId, owner, updatedAt, position: String(position) });
        if (found.length > limit) break;
      }
      return listPage(found, limit);
    },

    async sweep(callOptions) {
      enter(callOptions);
      const expired = [...slots.values()].filter(isExpired);
      for (const slot of expired) drop(slot);
      return { removed: expired.length };
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}
