import { type ChatMemoryStore, inMemoryStore, keyValueStore } from "@turnkeep/core";
import { type ConformanceHarness, failing, type HarnessCreateOptions } from "../src/index.ts";
import { describeConformance } from "../src/vitest.ts";
import { mapHooks } from "./map-hooks.ts";

let offset = 0;
const now = () => Date.now() + offset;
const advance = (ms: number) => {
  offset += ms;
};

describeConformance("inMemoryStore", { create: ({ ttlMs }) => inMemoryStore({ ttlMs, now }), advance });

describeConformance(
  "inMemoryStore by the real clock",
  { create: ({ ttlMs }) => inMemoryStore({ ttlMs }) },
  { groups: ["ttl"] },
);

const values = new Map<string, string>();
const hooks = mapHooks(values);

/** A store over the map, each write of which goes through `around`. */
function overMap(
  { ttlMs }: HarnessCreateOptions,
  around: <T>(write: () => T) => Promise<T> = async (write) => write(),
): ChatMemoryStore {
  return keyValueStore<string>({
    ttlMs,
    now,
    durable: true,
    shared: true,
    get: async (key) => hooks.get(key),
    compareAndSet: (key, value, revision) => around(() => hooks.compareAndSet(key, value, revision)),
    delete: (key, revision) => around(() => hooks.delete(key, revision)),
    list: async (page) => hooks.list(page),
  });
}

describeConformance("keyValueStore over a map", {
  create: (options) => overMap(options),
  advance,
  rawRead: (memoryId) => [values.get(memoryId) ?? ""],
  rawWrite: (memoryId, [text = ""]) => void values.set(memoryId, text),
  rawRemove: (memoryId) => void values.delete(memoryId),
  fault(options) {
    const fault = failing(options);
    return overMap({}, async (write) => {
      const answered = fault.write();
      const answer = write();
      answered();
      return answer;
    });
  },
});

const alone = new Map<string, string>();
const hooksAlone = mapHooks(alone);
/** As a database does, it answers after other events have had their turn. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A store over the map that lists nothing; by the real clock unless it is given one. */
const withoutListing = (clock: { readonly now?: () => number } = {}): ConformanceHarness => ({
  create: ({ ttlMs }) =>
    keyValueStore<string>({
      ...clock,
      ttlMs,
      shared: true,
      get: async (key) => {
        await turn();
        return hooksAlone.get(key);
      },
      compareAndSet: async (key, value, revision) => {
        await turn();
        return hooksAlone.compareAndSet(key, value, revision);
      },
      delete: hooksAlone.delete,
    }),
  rawRead: (memoryId) => [alone.get(memoryId) ?? ""],
});

// What a listing changes; the rest ran above.
describeConformance(
  "keyValueStore without a listing",
  { ...withoutListing({ now }), advance },
  { groups: ["basic", "list", "ids", "ttl", "lifecycle", "model"] },
);

// To wait out each life takes long: the rest, in the thorough run.
describeConformance("keyValueStore by the real clock", withoutListing(), {
  groups: ["ttl"],
  ...(process.env.TURNKEEP_THOROUGH ? {} : { names: ["an expired memory is absent", "prolong a life"] }),
});

const small = new Map<string, string>();
const hooksOfSmall = mapHooks(small);

/** As etcd does: values of 1.5 MiB at most, and what is larger is refused in words of its own. */
function checkSize(key: string, value: string): void {
  if (Buffer.byteLength(key) + Buffer.byteLength(value) > 1.5 * 1024 * 1024) {
    throw new Error("etcdserver: request is too large");
  }
}

function checkKey(key: string): void {
  if (!/^[0-9a-f]{2,1024}$/.test(key)) throw new Error("a key of digits was expected");
}

describeConformance("keyValueStore over a database as small as etcd", {
  create: ({ ttlMs }) =>
    keyValueStore<string>({
      ttlMs,
      now,
      durable: true,
      shared: true,
      keys: "hex",
      maxMemoryBytes: 1_500_000,
      get: async (key) => {
        checkKey(key);
        return hooksOfSmall.get(key);
      },
      compareAndSet: async (key, value, revision) => {
        checkKey(key);
        checkSize(key, value);
        return hooksOfSmall.compareAndSet(key, value, revision);
      },
      delete: async (key, revision) => hooksOfSmall.delete(key, revision),
      list: async (page) => hooksOfSmall.list(page),
    }),
  advance,
  rawRead: (memoryId) => [small.get(Buffer.from(memoryId).toString("hex")) ?? ""],
});
