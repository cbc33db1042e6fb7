import { type ChatMemoryStore, inMemoryStore, keyValueStore, type StoredMessage } from "@turnkeep/core";
import {
  type ConformanceHarness,
  type FaultOptions,
  failing,
  type HarnessCreateOptions,
} from "../src/index.ts";
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

/** The keys of a memory and of the segments of its history. */
function keysOf(memoryId: string): string[] {
  const isOfSegment = (key: string) => key.startsWith(`~:${memoryId}`) && key.length === memoryId.length + 34;
  return [memoryId.replace(/^~/, "~~"), ...values.keys()].filter(
    (key, index) => (index === 0 && values.has(key)) || isOfSegment(key),
  );
}

const raw = {
  rawRead: (memoryId) => keysOf(memoryId).map((key) => values.get(key) ?? ""),
  rawWrite(memoryId, texts) {
    for (const [index, key] of keysOf(memoryId).entries()) values.set(key, texts[index] ?? "");
  },
  rawRemove: (memoryId, index) => void values.delete(keysOf(memoryId)[index] ?? ""),
} satisfies Partial<ConformanceHarness>;

function dying(options: FaultOptions): ChatMemoryStore {
  const fault = failing(options);
  return overMap({}, async (write) => {
    const answered = fault.write();
    const answer = write();
    answered();
    return answer;
  });
}

describeConformance("keyValueStore over a map", {
  create: (options) => overMap(options),
  advance,
  ...raw,
  fault: dying,
});

const room = " ".repeat(33_000);

/** Gives each message so much room that it stands in a segment of its own once it has left. */
function roomy(inner: ChatMemoryStore): ChatMemoryStore {
  const grown = <T extends StoredMessage>(row: T): T =>
    typeof row?.payload === "string" ? { ...row, payload: row.payload + room } : row;
  const grow = <T extends StoredMessage>(rows: T[]): T[] => (Array.isArray(rows) ? rows.map(grown) : rows);
  const shrink = <T extends StoredMessage>(row: T): T => ({ ...row, payload: row.payload.replace(room, "") });
  const { capabilities } = inner;
  return {
    ...inner,
    capabilities: { ...capabilities, maxMessageBytes: capabilities.maxMessageBytes - room.length },
    async getMessages(memoryId, options) {
      const read = await inner.getMessages(memoryId, options);
      return { ...read, messages: read.messages.map(shrink) };
    },
    async getHistory(memoryId, query, options) {
      const page = await inner.getHistory(memoryId, query, options);
      return { ...page, messages: page.messages.map(shrink) };
    },
    updateMessages: (memoryId, update, options) =>
      inner.updateMessages(
        memoryId,
        update && { ...update, append: grow(update.append), replace: grow(update.replace) },
        options,
      ),
  };
}

// What segments change; the rest in the thorough run.
describeConformance(
  "keyValueStore in segments",
  {
    create: (options) => roomy(overMap(options)),
    advance,
    ...raw,
    fault: (options) => roomy(dying(options)),
  },
  {
    groups: [
      ...(["replay", "states", "history", "errors"] as const),
      ...(process.env.TURNKEEP_THOROUGH ? (["atomicity", "versions", "ttl", "lifecycle"] as const) : []),
    ],
  },
);

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
  rawRead(memoryId) {
    const key = Buffer.from(memoryId).toString("hex");
    const isOfSegment = (name: string) => name.startsWith(`ff${key}`) && name.length === key.length + 34;
    return [...small].flatMap(([name, value]) => (name === key || isOfSegment(name) ? [value] : []));
  },
});
