import { conflictError } from "../errors.ts";
import type { ChatMemoryStore, StoreCapabilities } from "../store-contract.ts";
import { defineStore } from "./define-store.ts";
import { ProcessMemory } from "./process-memory.ts";
import type { ListedMemory } from "./queries.ts";
import { Timeline } from "./timeline.ts";

/** A memory's place in either order, as a cursor holds it. */
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
  readonly memory: ProcessMemory;
  /** Its place in everybody's listing, in the order in which memories began. */
  readonly began: number;
  /** The same in its owner's listing: where it began, or became the owner's. */
  joined: number;
  /** Its place by activity. */
  active: number;
  /** In whose listing it is. */
  owner: string | undefined;
}

/** Memories in both orders. Places only grow. */
interface Listing {
  readonly stored: Timeline<Slot>;
  readonly newest: Timeline<Slot>;
}

function newListing(): Listing {
  return { stored: new Timeline(), newest: new Timeline() };
}

/**
 * A store in this process. Every method does all its work synchronously, so calls take effect whole and in the order in
 * which they were made.
 */
export function processStore(options: ProcessStoreOptions): ChatMemoryStore {
  const { name, capabilities, ttlMs, now = Date.now, admit } = options;
  const slots = new Map<string, Slot>();
  const everybody = newListing();
  const byOwner = new Map<string, Listing>();
  /** The last place that was given. */
  let places = 0;

  function isExpired({ memory: { expiresAt } }: Slot): boolean {
    return expiresAt !== undefined && now() >= expiresAt;
  }

  function find(memoryId: string): Slot | undefined {
    const slot = slots.get(memoryId);
    if (slot === undefined || !isExpired(slot)) return slot;
    drop(slot);
    return undefined;
  }

  function keep(memoryId: string, memory: ProcessMemory): void {
    places += 1;
    const slot: Slot = {
      memoryId,
      memory,
      began: places,
      joined: places,
      active: places,
      owner: memory.owner,
    };
    slots.set(memoryId, slot);
    everybody.stored.append(slot.began, slot);
    everybody.newest.append(slot.active, slot);
    enlist(slot);
  }

  /** Lists a memory that was written to as the newest, and for its owner. */
  function touch(slot: Slot): void {
    if (slot.active === places && slot.owner === slot.memory.owner) return;
    places += 1;
    const { owner } = slot.memory;
    const owned = owner === slot.owner && owner !== undefined ? byOwner.get(owner) : undefined;
    if (owner !== slot.owner) delist(slot);
    for (const listing of [everybody, owned]) {
      listing?.newest.delete(slot.active);
      listing?.newest.append(places, slot);
    }
    slot.active = places;
    if (owner === slot.owner) return;
    slot.owner = owner;
    slot.joined = places;
    enlist(slot);
  }

  function enlist(slot: Slot): void {
    if (slot.owner === undefined) return;
    const owned = byOwner.get(slot.owner) ?? newListing();
    byOwner.set(slot.owner, owned);
    owned.stored.append(slot.joined, slot);
    owned.newest.append(slot.active, slot);
  }

  function delist({ owner, joined, active }: Slot): void {
    const owned = owner === undefined ? undefined : byOwner.get(owner);
    owned?.stored.delete(joined);
    owned?.newest.delete(active);
    if (owner !== undefined && owned?.stored.size === 0) byOwner.delete(owner);
  }

  function drop(slot: Slot): void {
    slots.delete(slot.memoryId);
    everybody.stored.delete(slot.began);
    everybody.newest.delete(slot.active);
    delist(slot);
  }

  function clear(): void {
    for (const slot of [...slots.values()]) drop(slot);
  }

  const { store } = defineStore(
    {
      name,
      capabilities,
      connection: { under: () => undefined, close: async () => clear() },
      positions: { stored: position, newest: position },
    },
    {
      read(_, memoryId, known) {
        admit?.(memoryId, slots);
        return find(memoryId)?.memory.snapshot(known);
      },

      update(_, memoryId, update) {
        admit?.(memoryId, slots);
        const found = find(memoryId);
        const memory = found?.memory ?? new ProcessMemory();
        if (!memory.apply(memoryId, update, now(), ttlMs)) return;
        if (found === undefined) keep(memoryId, memory);
        else touch(found);
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
        return find(memoryId)?.memory.history(query);
      },

      list(_, { owner, order, after, limit }) {
        const listing = owner === undefined ? everybody : byOwner.get(owner);
        const place = after === undefined ? undefined : Number(after);
        const isNewest = order === "newest";
        const slots = isNewest
          ? listing?.newest.between(0, place ?? Number.MAX_SAFE_INTEGER, "descending")
          : listing?.stored.between(place ?? 0, Number.MAX_SAFE_INTEGER, "ascending");
        const found: ListedMemory[] = [];
        for (const slot of slots ?? []) {
          if (isExpired(slot)) continue;
          const { memoryId, began, joined, active, memory } = slot;
          const stored = owner === undefined ? began : joined;
          const position = String(isNewest ? active : stored);
          found.push({
            memoryId,
            owner: slot.owner,
            updatedAt: memory.updatedAt,
            data: memory.data,
            position,
          });
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
