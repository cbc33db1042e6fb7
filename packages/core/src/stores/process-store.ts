import { conflictError } from "../errors.ts";
import type { ChatMemoryStore, StoreCapabilities } from "../store-contract.ts";
import { defineStore } from "./define-store.ts";
import { ProcessMemory } from "./process-memory.ts";
import type { ListedMemory } from "./queries.ts";
import { Timeline } from "./timeline.ts";

/** A memory's position in the order in which memories began, as a cursor holds it. */
const position = /^[1-9]\d{0,15}$/;

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
  const slots = new Map<string, Slot>();
  const everybody = new Timeline<Slot>();
  const byOwner = new Map<string, Timeline<Slot>>();
  let positions = 0;
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

  function clear(): void {
    for (const slot of [...slots.values()]) drop(slot);
  }

  const { store } = defineStore(
    { name, capabilities, connection: { under: () => undefined, close: async () => clear() }, position },
    {
      read(_, memoryId, known) {
        admit?.(memoryId, slots);
        return find(memoryId)?.snapshot(known);
      },

      update(_, memoryId, update) {
        admit?.(memoryId, slots);
        const found = find(memoryId);
        const memory = found ?? new ProcessMemory(update.owner);
        memory.apply(memoryId, update, now());
        if (found === undefined) keep(memoryId, memory);
      },

      remove(_, memoryId, expected) {
        admit?.(memoryId, slots);
        const slot = slots.get(memoryId);
        if (slot === undefined) return;
        if (expected !== undefined && !isExpired(slot) && slot.memory.version !== expected)
          throw conflictError(memoryId, expected);
        drop(slot);
      },

      history(_, memoryId, query) {
        admit?.(memoryId, slots);
        return find(memoryId)?.history(query);
      },

      list(_, { owner, after = "0", limit }) {
        const source = owner === undefined ? everybody : byOwner.get(owner);
        const found: ListedMemory[] = [];
        for (const slot of source?.between(Number(after), Number.MAX_SAFE_INTEGER, "ascending") ?? []) {
          if (isExpired(slot)) continue;
          const { memoryId, position, memory } = slot;
          const { owner, updatedAt } = memory;
          found.push({ memoryId, owner, updatedAt, position: String(position) });
          if (found.length > limit) break;
        }
        return found;
      },

      sweep() {
        const expired = [...slots.values()].filter(isExpired);
        for (const slot of expired) drop(slot);
        return expired.length;
      },
    },
  );
  immediate.add(store.getMessages).add(store.updateMessages);
  return store;
}

/** What reads and writes at once. Wrappers of a store take over its members, so that each of them is told apart. */
const immediate = new WeakSet<(...args: never[]) => unknown>();

/** Whether a memory's reads and writes of this store are done when they return, so that no time limit can end them. */
export function neverWaits({ getMessages, updateMessages }: ChatMemoryStore): boolean {
  return immediate.has(getMessages) && immediate.has(updateMessages);
}
