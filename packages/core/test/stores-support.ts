import type { ChatMemoryStore, MemoryUpdate, MessageState, StoredMessage } from "../src/store-contract.ts";
import { inMemoryStore } from "../src/stores/in-memory-store.ts";
import type { KeyValueStoreOptions } from "../src/stores/key-value-options.ts";
import { keyValueStore } from "../src/stores/key-value-store.ts";
import { singleSlotStore } from "../src/stores/single-slot-store.ts";

let versions = 0;

export function newVersion(): string {
  versions += 1;
  return `v${versions}`;
}

export function message(seq: number, over: Partial<StoredMessage> = {}): StoredMessage {
  return { id: `m${seq}`, seq, createdAt: 1_700_000_000_000 + seq, payload: `{"n":${seq}}`, ...over };
}

/** An update with a version of its own; `nextSeq` follows from the last message unless given. */
export function update(expected: string | null, over: Partial<MemoryUpdate> = {}): MemoryUpdate {
  const last = over.append?.at(-1)?.seq ?? 0;
  return {
    expected,
    version: newVersion(),
    nextSeq: last + 1,
    append: [],
    replace: [],
    move: [],
    ...over,
  };
}

/** Begins a memory with messages 1 to `count`; answers the version. */
export async function seed(
  store: ChatMemoryStore,
  memoryId: string,
  count: number,
  over: Partial<MemoryUpdate> = {},
): Promise<string> {
  const append = Array.from({ length: count }, (_, index) => message(index + 1));
  const change = update(null, { append, nextSeq: count + 1, ...over });
  await store.updateMessages(memoryId, change);
  return change.version;
}

export function moveAll(seqs: readonly number[], to: MessageState | "removed"): MemoryUpdate["move"] {
  return seqs.map((seq) => ({ seq, to }));
}

/** The atomic operations of a key-value database, over a map. */
export function mapHooks(
  values: Map<string, string> = new Map(),
): KeyValueStoreOptions<string> & { values: Map<string, string> } {
  const hooks: KeyValueStoreOptions<string> = {
    get: (key) => {
      const value = values.get(key);
      return value === undefined ? undefined : { value, revision: value };
    },
    compareAndSet: (key, value, revision) => {
      if (values.get(key) !== revision) return false;
      values.set(key, value);
      return true;
    },
    delete: (key, revision) => (revision === undefined || values.get(key) === revision) && values.delete(key),
    list: ({ after, limit }) =>
      [...values.keys()]
        .sort()
        .filter((key) => after === undefined || key > after)
        .slice(0, limit),
  };
  // Not enumerable: the store refuses a member that is no option.
  return Object.defineProperty(hooks as typeof hooks & { values: typeof values }, "values", {
    value: values,
  });
}

/** Every store of core, by name. */
export const stores: readonly (readonly [name: string, create: () => ChatMemoryStore])[] = [
  ["inMemoryStore", () => inMemoryStore()],
  ["singleSlotStore", () => singleSlotStore()],
  ["keyValueStore", () => keyValueStore(mapHooks())],
];
