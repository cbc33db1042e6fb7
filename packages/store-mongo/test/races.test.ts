import { randomUUID } from "node:crypto";
import { createChatMemories, createChatMemory, type HistoryQuery, type MemoryUpdate } from "@turnkeep/core";
import { unreadableMessage } from "@turnkeep/core/store-kit";
import {
  expectAppendsToLand,
  expectWholeUpdates,
  gate,
  message,
  messages,
  update,
} from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type MongoStore, mongoStore } from "../src/index.ts";
import { intercepted, migrated, newDatabase, rawRead } from "./support.ts";

const url = inject("mongoUrl");
const database = newDatabase();
const large = (seq: number, text: string) => message(seq, JSON.stringify(text.padEnd(20_000, "x")));
let client: MongoClient;
let one: MongoStore;
let other: MongoStore;

beforeAll(async () => {
  await migrated(url, database);
  client = new MongoClient(url);
  // The server's own deletions would leave no expired memory for others to find.
  await client.db(database).collection("turnkeep_memories").dropIndex("expiry");
  one = mongoStore({ url, database });
  other = mongoStore({ client, database });
});
afterAll(async () => {
  await one.close();
  await client.db(database).dropDatabase();
  await client.close();
});

/** Runs `meanwhile` once, just before the store's `step`-th call of that method. */
function interrupted(method: string, step: number, meanwhile: () => Promise<unknown>): MongoStore {
  let count = 0;
  const before = async (called: string): Promise<void> => {
    if (called === method && ++count === step) await meanwhile();
  };
  return mongoStore({ client: intercepted(client, before), database });
}

/** Does something before the store reads rows, and waits for it. */
function beforeRows(meanwhile: () => Promise<unknown>): MongoStore {
  return mongoStore({
    database,
    client: {
      db: (name) => ({
        collection(which, options) {
          const target = client.db(name).collection(which, options);
          if (!which.endsWith("messages")) return target;
          return new Proxy(target, {
            get(_, method: string) {
              if (method !== "find") return Reflect.get(target, method, target).bind(target);
              return (...args: Parameters<typeof target.find>) => ({
                toArray: async () => {
                  await meanwhile();
                  return target.find(...args).toArray();
                },
              });
            },
          });
        },
      }),
    },
  });
}

test("64 concurrent optimistic appends by two clients all land, once and in one order", async () => {
  const memoryId = randomUUID();
  await expectAppendsToLand(one, other, memoryId, 64);
});

test("readers meet all of an update or none", () =>
  expectWholeUpdates(one, other, { updates: 50, to: "evicted" }));

test("of many who begin an expired memory anew, one does, and nothing of the old life stays", async () => {
  const memoryId = randomUUID();
  const short = mongoStore({ client, database, ttlMs: 1 });
  const old = [large(1, "old life"), ...messages(2, 3)];
  await short.updateMessages(memoryId, update(null, 4, { head: "1", owner: "old", append: old }));
  while ((await one.getMessages(memoryId)).version !== null);
  const again = { ...large(1, "next"), id: "new life" };
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? one : other).updateMessages(memoryId, update(null, 2, { append: [again] })),
    ),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await other.getMessages(memoryId)).toMatchObject({ nextSeq: 2, messages: [again] });
  expect((await other.getHistory(memoryId, {})).messages).toEqual([{ ...again, state: "live" }]);
  expect((await one.listMemories({ owner: "old" })).memories).toEqual([]);
  await one.sweep();
  const raw = await rawRead(client, database, memoryId);
  expect(raw.join()).not.toContain("old life");
  expect(raw.filter((text) => text.includes("next"))).toHaveLength(1);
});

test("a large update of a memory that has expired is VERSION_CONFLICT, and does not bring it back", async () => {
  const memoryId = randomUUID();
  const short = mongoStore({ client, database, ttlMs: 1 });
  const begin = update(null, 2, { append: [message(1)] });
  await short.updateMessages(memoryId, begin);
  while ((await one.getMessages(memoryId)).version !== null);
  const late = update(begin.version, 3, { append: [large(2, "late")] });
  await expect(one.updateMessages(memoryId, late)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  expect((await one.getMessages(memoryId)).version).toBeNull();
});

test("who begins an expired memory anew, and comes late, leaves what another has begun meanwhile", async () => {
  const memoryId = randomUUID();
  const short = mongoStore({ client, database, ttlMs: 1 });
  await short.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
  while ((await one.getMessages(memoryId)).version !== null);
  const theirs = update(null, 2, { append: [message(1, '"theirs"')] });
  const slow = interrupted("findOneAndDelete", 1, () => other.updateMessages(memoryId, theirs));
  const ours = slow.updateMessages(memoryId, update(null, 2, { append: [message(1, '"ours"')] }));
  await expect(ours).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  expect((await one.getMessages(memoryId)).messages).toEqual(theirs.append);
});

test.each(["begins", "goes on"])(
  "a sweep that meets an update half way: it %s all the same, whole",
  async (what) => {
    const memoryId = randomUUID();
    let expected: string | null = null;
    if (what === "goes on") {
      const begin = update(null, 2, { append: [message(1)] });
      await one.updateMessages(memoryId, begin);
      expected = begin.version;
    }
    // The last write of the update: its row is staged, and the sweep takes it for one that was left behind.
    const store = interrupted("updateOne", 1, () => other.sweep());
    const change = update(expected, 3, { append: [large(2, "kept")] });
    await store.updateMessages(memoryId, change);
    expect((await one.getMessages(memoryId)).messages.at(-1)).toEqual(change.append[0]);
    await one.sweep();
    expect((await one.getMessages(memoryId)).messages.at(-1)).toEqual(change.append[0]);
  },
);

test("an update that sweeps undo each time fails in the end, and leaves nothing", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2, { append: [message(1)] });
  await one.updateMessages(memoryId, begin);
  const paused = intercepted(client, async (method) => {
    if (method === "updateOne") await other.sweep();
  });
  const lost = update(begin.version, 3, { append: [large(2, "draft")] });
  await expect(mongoStore({ client: paused, database }).updateMessages(memoryId, lost)).rejects.toMatchObject(
    { code: "STORE_UNAVAILABLE", cause: { message: expect.stringContaining("Sweeps") } },
  );
  expect((await one.getMessages(memoryId)).messages).toEqual([message(1)]);
  expect((await rawRead(client, database, memoryId)).join()).not.toContain("draft");
});

test.each(["updateOne", "insertMany"])(
  "what an update that died before %s left is removed by the next write",
  async (method) => {
    const memoryId = randomUUID();
    const begin = update(null, 2, { append: [message(1)] });
    await one.updateMessages(memoryId, begin);
    let dead = false;
    const before = (called: string): void => {
      dead ||= called === method && method === "insertMany";
      if (dead) throw new Error("the process has died");
      if (called === "insertMany") dead = true;
    };
    const store = mongoStore({ client: intercepted(client, before), database });
    const lost = update(begin.version, 3, { append: [large(2, "draft")] });
    await expect(store.updateMessages(memoryId, lost)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await one.getMessages(memoryId)).messages).toEqual([message(1)]);
    expect((await rawRead(client, database, memoryId)).join().includes("draft")).toBe(
      method !== "insertMany",
    );
    await one.updateMessages(memoryId, update(begin.version, 3, { append: [message(2)] }));
    expect((await rawRead(client, database, memoryId)).join()).not.toContain("draft");
    expect((await one.getHistory(memoryId, {})).messages).toHaveLength(2);
  },
);

test("an attempt to begin a memory ends by itself; neither it nor one to go on ends the memory", async () => {
  const memoryId = randomUUID();
  const memories = client.db(database).collection<{ _id: string; expiresAt?: Date }>("turnkeep_memories");
  const document = () => memories.findOne({ _id: memoryId }, { projection: { expiresAt: 1 } });
  const dying = () => interrupted("insertMany", 1, () => Promise.reject(new Error("the process has died")));
  const begin = update(null, 2, { append: [large(1, "first")] });
  await expect(dying().updateMessages(memoryId, begin)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect((await document())?.expiresAt?.getTime()).toBeGreaterThan(Date.now());
  await one.updateMessages(memoryId, begin);
  expect(await document()).toEqual({ _id: memoryId });
  const lost = update(begin.version, 3, { append: [large(2, "second")] });
  await expect(dying().updateMessages(memoryId, lost)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(await document()).toEqual({ _id: memoryId });
});

test("rows of an update that lost are gone at once", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2, { append: [message(1)] });
  await one.updateMessages(memoryId, begin);
  const memories = client.db(database).collection<{ _id: string }>("turnkeep_memories");
  // By somebody who dies before he settles what others have left.
  const slow = interrupted("updateOne", 1, () =>
    memories.updateOne({ _id: memoryId }, { $set: { version: "theirs" } }),
  );
  const lost = update(begin.version, 3, { append: [large(2, "draft")] });
  await expect(slow.updateMessages(memoryId, lost)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  expect((await rawRead(client, database, memoryId)).join()).not.toContain("draft");
});

test("what an update that died has staged is no message", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2, { append: [message(1)] });
  await one.updateMessages(memoryId, begin);
  const dying = interrupted("updateOne", 1, () => Promise.reject(new Error("the process has died")));
  const lost = update(begin.version, 3, { append: [large(2, "draft")] });
  await expect(dying.updateMessages(memoryId, lost)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  const naming = update(begin.version, 3, { move: [{ seq: 2, to: "evicted" }] });
  await expect(one.updateMessages(memoryId, naming)).rejects.toMatchObject({ code: "INVALID_OPTION" });
});

test.each([undefined, 60_000])("whatever ttlMs is, an update writes the same: %j", async (ttlMs) => {
  const memoryId = randomUUID();
  const store = mongoStore({ client, database, ttlMs });
  const begin = update(null, 7, { append: [large(1, "a"), large(2, "b"), large(3, "c"), ...messages(4, 6)] });
  await store.updateMessages(memoryId, begin);
  const memories = client.db(database).collection<{ _id: string }>("turnkeep_memories");
  expect(await memories.findOne({ _id: memoryId })).toMatchObject({ trash: [], staging: [] });
  const change = update(begin.version, 8, {
    append: [large(7, "g")],
    replace: [large(1, "new")],
    move: [
      { seq: 2, to: "removed" },
      { seq: 3, to: "evicted" },
      { seq: 4, to: "superseded" },
      { seq: 5, to: "removed" },
    ],
  });
  // It dies before it settles what it has left.
  const dying = intercepted(client, (method) => {
    if (method === "deleteMany") throw new Error("the process has died");
  });
  await mongoStore({ client: dying, database, ttlMs }).updateMessages(memoryId, change);
  const live = [...change.replace, message(6), ...change.append];
  expect((await one.getMessages(memoryId)).messages).toEqual(live);
  const { messages: all } = await one.getHistory(memoryId, {});
  expect(all.map(({ seq, state }) => `${seq} ${state}`)).toEqual([
    ...["1 live", "3 evicted", "4 superseded", "6 live", "7 live"],
  ]);
  await store.updateMessages(memoryId, update(change.version, 8, { head: "{}" }));
  const rows = client.db(database).collection("turnkeep_messages");
  expect((await rows.distinct("seq", { memory: memoryId })).sort()).toEqual([1, 3, 7]);
  expect(await rows.countDocuments({ memory: memoryId })).toBe(3);
  expect(await memories.findOne({ _id: memoryId })).toMatchObject({ trash: [], staging: [] });
});

test("a sweep leaves a damaged memory as it is, and settles the others", async () => {
  const [damaged, other] = ["a damaged memory", "another"];
  for (const memoryId of [damaged, other]) {
    const begin = update(null, 2, { append: [large(1, "content")] });
    await one.updateMessages(memoryId, begin);
    const dying = interrupted("updateOne", 1, () => Promise.reject(new Error("the process has died")));
    const lost = update(begin.version, 3, { append: [large(2, "draft")] });
    await expect(dying.updateMessages(memoryId, lost)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  }
  await client
    .db(database)
    .collection<{ _id: string }>("turnkeep_memories")
    .updateOne({ _id: damaged }, { $set: { live: "damaged" } });
  await one.sweep();
  expect((await rawRead(client, database, damaged)).join()).toContain("content");
  const settled = (await rawRead(client, database, other)).join();
  expect(settled).toContain("content");
  expect(settled).not.toContain("draft");
  await one.deleteMessages(damaged);
});

test("a sweep that cannot settle a memory says so", async () => {
  const memoryId = randomUUID();
  await one.updateMessages(memoryId, update(null, 2, { append: [large(1, "content")] }));
  const dying = interrupted("findOneAndUpdate", 1, () => Promise.reject(new Error("the process has died")));
  await expect(dying.sweep()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});

test("neither a delete nor a sweep takes rows of other memories", async () => {
  const [kept, deleted, expired, lost] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const short = mongoStore({ client, database, ttlMs: 1 });
  const append = [large(1, "content")];
  await one.sweep();
  for (const memoryId of [kept, deleted, lost]) {
    await one.updateMessages(memoryId, update(null, 2, { append }));
  }
  await short.updateMessages(expired, update(null, 2, { append }));
  await one.deleteMessages(deleted);
  expect((await one.getMessages(kept)).messages).toEqual(append);
  while ((await one.getMessages(expired)).version !== null);
  // As the server does it where a memory has expired.
  await client.db(database).collection<{ _id: string }>("turnkeep_memories").deleteOne({ _id: lost });
  expect(await one.sweep()).toEqual({ removed: 2 });
  expect((await one.getMessages(kept)).messages).toEqual(append);
  for (const memoryId of [deleted, expired, lost]) {
    expect(await rawRead(client, database, memoryId)).toEqual([]);
  }
});

test("a delete that comes late does not meet the next life", async () => {
  const memoryId = randomUUID();
  await one.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
  const next = update(null, 2, { append: [large(1, "next life")] });
  const slow = interrupted("findOneAndDelete", 1, async () => {
    await other.deleteMessages(memoryId);
    await other.updateMessages(memoryId, next);
  });
  await slow.deleteMessages(memoryId);
  expect((await one.getMessages(memoryId)).messages).toEqual(next.append);
});

describe("a delete of one version", () => {
  test("meets no other one, not even one that is written or begun just before it", async () => {
    const memoryId = randomUUID();
    const begin = update(null, 2, { append: [large(1, "old life")] });
    await one.updateMessages(memoryId, begin);
    const next = update(begin.version, 3, { append: [message(2)] });
    const anew = update(null, 2, { append: [large(1, "next life")] });
    const meanwhile = [
      () => other.updateMessages(memoryId, next),
      async () => {
        await other.deleteMessages(memoryId);
        await other.updateMessages(memoryId, anew);
      },
    ];
    for (const write of meanwhile) {
      const { version } = await one.getMessages(memoryId);
      const slow = interrupted("findOneAndDelete", 1, write);
      const call = slow.deleteMessages(memoryId, { expected: version as string });
      await expect(call).rejects.toMatchObject({ code: "VERSION_CONFLICT", details: { memoryId } });
    }
    expect((await one.getMessages(memoryId)).messages).toEqual(anew.append);
    await one.deleteMessages(memoryId, { expected: anew.version });
    expect(await rawRead(client, database, memoryId)).toEqual([]);
    // What is not there is deleted already.
    await one.deleteMessages(memoryId, { expected: anew.version });
  });

  test("leaves nothing of a memory that has expired", async () => {
    const memoryId = randomUUID();
    const begin = update(null, 2, { append: [large(1, "old life")] });
    await mongoStore({ client, database, ttlMs: 1 }).updateMessages(memoryId, begin);
    while ((await one.getMessages(memoryId)).version !== null);
    await one.deleteMessages(memoryId, { expected: "another" });
    await one.deleteMessages(memoryId, { expected: begin.version });
    expect(await rawRead(client, database, memoryId)).toEqual([]);
  });
});

test.each([undefined, "its version"])(
  "a delete that is sent again leaves nothing of what an interrupted one has left, of %s",
  async (which) => {
    const memoryId = randomUUID();
    const begin = update(null, 2, { append: [large(1, "old life")] });
    await one.updateMessages(memoryId, begin);
    const dying = interrupted("deleteMany", 1, () => Promise.reject(new Error("the process has died")));
    const options = which === undefined ? undefined : { expected: begin.version };
    await expect(dying.deleteMessages(memoryId, options)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    expect((await rawRead(client, database, memoryId)).join()).toContain("old life");
    await one.deleteMessages(memoryId, options);
    expect(await rawRead(client, database, memoryId)).toEqual([]);
  },
);

describe("a memory whose rows could not be deleted with its document", () => {
  const died = () => Promise.reject(new Error("the process has died"));

  async function begun(): Promise<string> {
    const memoryId = randomUUID();
    await one.updateMessages(memoryId, update(null, 2, { owner: memoryId, append: [large(1, "old life")] }));
    return memoryId;
  }

  test.each<[string, (id: string, store: MongoStore) => Promise<unknown>]>([
    ["clear()", (id, store) => createChatMemory({ id, store }).clear()],
    ["erase()", (id, store) => createChatMemories({ store }).erase({ owner: id })],
  ])("is gone with its rows when %s ends", async (_, remove) => {
    const memoryId = await begun();
    await remove(memoryId, interrupted("deleteMany", 1, died));
    expect(await rawRead(client, database, memoryId)).toEqual([]);
  });

  test("loses them by the next clear()", async () => {
    const memoryId = await begun();
    const caller = new AbortController();
    const dying = interrupted("deleteMany", 1, () => {
      caller.abort();
      return died();
    });
    const cleared = createChatMemory({ id: memoryId, store: dying }).clear({ signal: caller.signal });
    await expect(cleared).rejects.toMatchObject({ code: "ABORTED" });
    expect((await rawRead(client, database, memoryId)).join()).toContain("old life");
    await createChatMemory({ id: memoryId, store: one }).clear();
    expect(await rawRead(client, database, memoryId)).toEqual([]);
  });
});

test("a delete that looks for what is left of earlier lives spares one that begins meanwhile", async () => {
  const memoryId = randomUUID();
  const append = [large(1, "next life")];
  const theirs = waiting("updateOne");
  let begun: Promise<void> | undefined;
  // As the server does it where a memory has expired.
  const memories = client.db(database).collection<{ _id: string }>("turnkeep_memories");
  await one.updateMessages(memoryId, update(null, 2, { append: [large(1, "old life")] }));
  await memories.deleteOne({ _id: memoryId });
  const slow = interrupted("deleteMany", 1, async () => {
    // Its rows are staged, and its memory is none yet.
    begun = theirs.store.updateMessages(memoryId, update(null, 2, { append }));
    await theirs.reached;
  });
  await slow.deleteMessages(memoryId);
  theirs.go();
  await begun;
  expect((await one.getMessages(memoryId)).messages).toEqual(append);
  expect((await rawRead(client, database, memoryId)).join()).not.toContain("old life");
});

test("an update that comes late does not bring back what was deleted", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2, { append: [message(1)] });
  await one.updateMessages(memoryId, begin);
  const slow = interrupted("updateOne", 1, () => other.deleteMessages(memoryId));
  const late = update(begin.version, 3, { append: [large(2, "late")] });
  await expect(slow.updateMessages(memoryId, late)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  expect(await one.getMessages(memoryId)).toEqual({ version: null, nextSeq: 1, messages: [] });
  expect(await rawRead(client, database, memoryId)).toEqual([]);
});

test("a reader whose row was deleted between its two steps reads again", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2, { append: [large(1, "first")] });
  await one.updateMessages(memoryId, begin);
  const change = update(begin.version, 2, { replace: [large(1, "second")] });
  let finds = 0;
  const slow = beforeRows(() => {
    finds++;
    return other.updateMessages(memoryId, change);
  });
  expect((await slow.getMessages(memoryId)).messages).toEqual(change.replace);
  expect(finds).toBe(2);
});

test("a reader who misses a row that is lost ends, although others write before each of his steps", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 3, { append: [large(1, "lost"), message(2)] });
  await one.updateMessages(memoryId, begin);
  await client.db(database).collection("turnkeep_messages").deleteMany({ memory: memoryId });
  let last = begin;
  const slow = beforeRows(async () => {
    last = update(last.version, last.nextSeq + 1, { append: [message(last.nextSeq)] });
    await other.updateMessages(memoryId, last);
  });
  expect((await slow.getMessages(memoryId)).messages.slice(0, 2)).toEqual([
    unreadableMessage(1, "m1"),
    message(2),
  ]);
  expect((await slow.getHistory(memoryId, { limit: 2 })).messages).toMatchObject([
    { payload: "" },
    message(2),
  ]);
});

/** A client of which one call of a method waits: `reached` once it does, until `go`. */
function waiting(method: string) {
  const [reached, going] = [gate(), gate()];
  let isFirst = true;
  const paused = intercepted(client, async (called) => {
    if (called !== method || !isFirst) return;
    isFirst = false;
    reached.open();
    await going.opened;
  });
  return { store: mongoStore({ client: paused, database }), reached: reached.opened, go: going.open };
}

/**
 * A memory with a live message in a row (seq 1) and `updates` times four of 15,000 characters that have left memory. After
 * the third update they are too many for the document; the fourth moves them into rows.
 */
async function crowded(memoryId: string, updates: number): Promise<string> {
  const begin = update(null, 2, { append: [large(1, "first")] });
  await one.updateMessages(memoryId, begin);
  return crowd(memoryId, begin.version, 2, updates);
}

/** So many updates, each with four messages of 15,000 characters that leave memory at once. Answers the version. */
async function crowd(memoryId: string, version: string, first: number, updates: number): Promise<string> {
  let last = version;
  for (let from = first; from < first + 4 * updates; from += 4) {
    const append = messages(from, from + 3).map(({ seq }) =>
      message(seq, JSON.stringify("x".repeat(15_000))),
    );
    const move = append.map(({ seq }) => ({ seq, to: "evicted" as const }));
    const change = update(last, from + 4, { append, move });
    await one.updateMessages(memoryId, change);
    last = change.version;
  }
  return last;
}

async function seqsIn(memoryId: string, query: HistoryQuery = {}): Promise<number[]> {
  return (await one.getHistory(memoryId, { limit: 1_000, ...query })).messages.map(({ seq }) => seq);
}

const span = (first: number, last: number): number[] => messages(first, last).map(({ seq }) => seq);
const removal = (version: string, nextSeq: number, seq: number) =>
  update(version, nextSeq, { move: [{ seq, to: "removed" }] });

test("what leaves memory while others move the rest out of the document is kept", async () => {
  const memoryId = randomUUID();
  const version = await crowded(memoryId, 3);
  const last = update(version, 15, { append: [message(14)] });
  let isMoved = false;
  let isMet = false;
  const mover = mongoStore({
    database,
    client: intercepted(client, async (method) => {
      isMoved ||= method === "updateMany";
      if (!isMoved || method !== "updateOne" || isMet) return;
      isMet = true;
      const move = [{ seq: 14, to: "evicted" as const }];
      await other.updateMessages(memoryId, update(last.version, 16, { append: [message(15)], move }));
    }),
  });
  await mover.updateMessages(memoryId, last);
  expect(isMet).toBe(true);
  expect(await seqsIn(memoryId)).toEqual(span(1, 15));
  await one.sweep();
  expect(await seqsIn(memoryId)).toEqual(span(1, 15));
});

test("rows of who could not move anything out of the document are gone at once", async () => {
  const memoryId = randomUUID();
  const version = await crowded(memoryId, 3);
  const memories = client.db(database).collection<{ _id: string }>("turnkeep_memories");
  let [isStaged, isMet] = [false, false];
  const mover = mongoStore({
    database,
    client: intercepted(client, async (method) => {
      isStaged ||= method === "insertMany";
      if (!isStaged || method !== "updateOne" || isMet) return;
      isMet = true;
      // Somebody else claims the document to settle it, and dies.
      await memories.updateOne({ _id: memoryId }, { $inc: { generation: 1 } });
    }),
  });
  await mover.updateMessages(memoryId, update(version, 15, { append: [message(14)] }));
  expect(isMet).toBe(true);
  const rows = client.db(database).collection("turnkeep_messages");
  expect(await rows.distinct("seq", { memory: memoryId })).toEqual([1]);
  expect(await seqsIn(memoryId)).toEqual(span(1, 14));
});

test("what has left memory keeps its state where it is moved out of the document, and what is live stays inside", async () => {
  const memoryId = randomUUID();
  const version = await crowded(memoryId, 3);
  const move = [2, 5].map((seq) => ({ seq, to: "superseded" as const }));
  const live = message(14, JSON.stringify("x".repeat(15_000)));
  await one.updateMessages(memoryId, update(version, 15, { append: [live], move }));
  const memories = client.db(database).collection<{ _id: string }>("turnkeep_memories");
  expect(await memories.findOne({ _id: memoryId })).toMatchObject({ live: { 14: { p: live.payload } } });
  const rows = client.db(database).collection("turnkeep_messages");
  expect((await rows.distinct("seq", { memory: memoryId })).length).toBe(13);
  const { messages: all } = await one.getHistory(memoryId, {});
  const stateOf = (seq: number): string => {
    if (seq === 1 || seq === 14) return "live";
    return seq === 2 || seq === 5 ? "superseded" : "evicted";
  };
  expect(all.map(({ seq, state }) => `${seq} ${state}`)).toEqual(
    span(1, 14).map((seq) => `${seq} ${stateOf(seq)}`),
  );
});

test("who settles late changes no state that another has settled since", async () => {
  const memoryId = randomUUID();
  const version = await crowded(memoryId, 3);
  const sweeper = waiting("updateMany");
  const sweeping = sweeper.store.sweep();
  await sweeper.reached;
  const change = update(version, 14, { move: [{ seq: 2, to: "superseded" }] });
  await one.updateMessages(memoryId, change);
  await crowd(memoryId, change.version, 14, 4);
  sweeper.go();
  await sweeping;
  const { messages: found } = await one.getHistory(memoryId, { states: ["superseded"] });
  expect(found.map(({ seq }) => seq)).toEqual([2]);
});

test("an update of more than a thousand messages that read the document before others moved them out keeps to what they did", async () => {
  const memoryId = randomUUID();
  const moved = (from: number, end: number, to: "evicted" | "superseded") =>
    messages(from, end).map(({ seq }) => ({ seq, to }));
  const append = messages(1, 1_010);
  const begin = update(null, 1_011, { append, move: moved(1, 1_010, "evicted") });
  await one.updateMessages(memoryId, begin);
  const full = await crowd(memoryId, begin.version, 1_011, 2);
  const last = update(full, 1_020, { append: [message(1_019)] });
  const change = update(last.version, 1_020, { move: moved(1, 1_012, "superseded") });
  const slow = waiting("updateOne");
  let [isStaged, changing] = [false, Promise.resolve()];
  const mover = mongoStore({
    database,
    client: intercepted(client, async (method) => {
      if (isStaged && method === "updateOne") {
        isStaged = false;
        changing = slow.store.updateMessages(memoryId, change);
        await slow.reached;
      }
      isStaged ||= method === "insertMany";
    }),
  });
  await mover.updateMessages(memoryId, last);
  slow.go();
  await changing;
  expect(await seqsIn(memoryId, { after: 1_000 })).toEqual(span(1_001, 1_019));
  expect(await seqsIn(memoryId, { after: 1_000, states: ["superseded"] })).toEqual(span(1_001, 1_012));
  expect(await seqsIn(memoryId, { states: ["evicted"] })).toEqual(span(1_013, 1_018));
});

test("of several updates of more than a thousand messages at one version one wins, and nothing is left of the others", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2_001, { append: messages(1, 2_000) });
  await one.updateMessages(memoryId, begin);
  const rivals = [1, 2, 3, 4].map((rival) =>
    update(begin.version, 2_001, {
      replace: [
        ...messages(1_501, 1_999).map(({ seq }) => message(seq, `"rival ${rival}"`)),
        large(2_000, `rival ${rival}`),
      ],
      move: messages(1, 1_500).map(({ seq }) => ({ seq, to: seq % 2 === 0 ? "evicted" : "removed" })),
    }),
  );
  const send = (rival: MemoryUpdate, at: number) =>
    (at % 2 === 0 ? one : other).updateMessages(memoryId, rival);
  const results = await Promise.allSettled(rivals.map(send));
  const [winner, ...more] = rivals.filter((_, at) => results[at]?.status === "fulfilled");
  expect(more).toEqual([]);
  for (const result of results) {
    if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "VERSION_CONFLICT" });
  }
  expect(await one.getMessages(memoryId)).toMatchObject({
    version: winner?.version,
    messages: winner?.replace,
  });
  expect(await seqsIn(memoryId, { states: ["evicted"] })).toEqual(
    span(1, 1_500).filter((seq) => seq % 2 === 0),
  );
  await other.updateMessages(memoryId, winner as MemoryUpdate);
  const rows = client.db(database).collection("turnkeep_messages");
  expect(await rows.distinct("seq", { memory: memoryId })).toEqual([2_000]);
  expect(await rows.countDocuments({ memory: memoryId })).toBe(1);
});

test("what is removed while a sweep moves it out of the document, by a writer that dies then, does not come back", async () => {
  const memoryId = randomUUID();
  const version = await crowded(memoryId, 3);
  const sweeper = waiting("updateMany");
  let sweeping: Promise<unknown> | undefined;
  let writes = 0;
  const mortal = intercepted(client, async (method) => {
    if (method === "findOneAndUpdate") throw new Error("the process has died");
    // The first write is refused because the document is too large.
    if (method !== "updateOne" || ++writes !== 2) return;
    sweeping = sweeper.store.sweep();
    await sweeper.reached;
  });
  await mongoStore({ client: mortal, database }).updateMessages(memoryId, removal(version, 14, 2));
  sweeper.go();
  await sweeping;
  expect(await seqsIn(memoryId)).toEqual([1, ...span(3, 13)]);
  await one.sweep();
  expect(await seqsIn(memoryId)).toEqual([1, ...span(3, 13)]);
});

test("what is removed from history shows no more while its row is still there", async () => {
  const memoryId = randomUUID();
  const settled = update(await crowded(memoryId, 3), 15, { append: [message(14)] });
  await one.updateMessages(memoryId, settled);
  const change = removal(settled.version, 15, 2);
  const dying = interrupted("findOneAndUpdate", 1, () => Promise.reject(new Error("the process has died")));
  await dying.updateMessages(memoryId, change);
  expect(
    await client.db(database).collection("turnkeep_messages").countDocuments({ memory: memoryId, seq: 2 }),
  ).toBe(1);
  expect(await seqsIn(memoryId)).toEqual([1, ...span(3, 14)]);
  expect((await one.getHistory(memoryId, { ids: ["m2", "m3"] })).messages.map(({ seq }) => seq)).toEqual([3]);
  await expect(one.updateMessages(memoryId, removal(change.version, 15, 2))).rejects.toMatchObject({
    code: "INVALID_OPTION",
  });
});

test("a sweep removes what an expired life had in history, though the id has begun anew", async () => {
  const memoryId = randomUUID();
  await one.updateMessages(memoryId, update(await crowded(memoryId, 3), 15, { append: [message(14)] }));
  const rows = client.db(database).collection("turnkeep_messages");
  expect(await rows.countDocuments({ memory: memoryId })).toBe(13);
  // As the server does it where a memory has expired.
  await client.db(database).collection<{ _id: string }>("turnkeep_memories").deleteOne({ _id: memoryId });
  const next = update(null, 2, { append: [message(1, '"next life"')] });
  await one.updateMessages(memoryId, next);
  await one.sweep();
  expect(await rows.countDocuments({ memory: memoryId })).toBe(0);
  expect((await one.getHistory(memoryId, {})).messages).toMatchObject(next.append);
});

test("a page of history that meets a message on its way back to memory has it", async () => {
  const memoryId = randomUUID();
  const settled = update(await crowded(memoryId, 3), 15, { append: [message(14)] });
  await one.updateMessages(memoryId, settled);
  let isMet = false;
  const slow = beforeRows(async () => {
    if (isMet) return;
    isMet = true;
    const back = update(settled.version, 15, { move: [{ seq: 2, to: "live" }] });
    await other.updateMessages(memoryId, back);
    await other.updateMessages(memoryId, update(back.version, 15, { replace: [message(2, '"again"')] }));
  });
  const page = await slow.getHistory(memoryId, { limit: 1_000 });
  expect(page.messages.map(({ seq }) => seq)).toEqual(span(1, 14));
});

test("a page of history that meets the end of a life shows the next one", async () => {
  const memoryId = randomUUID();
  await one.updateMessages(memoryId, update(await crowded(memoryId, 3), 15, { append: [message(14)] }));
  const next = { ...large(1, "next life"), id: "next life" };
  let isMet = false;
  const slow = beforeRows(async () => {
    if (isMet) return;
    isMet = true;
    await other.deleteMessages(memoryId);
    await other.updateMessages(memoryId, update(null, 2, { append: [next] }));
    // As often settled as the life before, so that no number tells them apart.
    await other.sweep();
  });
  // Of the old life only what stands in its document is left.
  expect((await slow.getHistory(memoryId, { after: 1 })).messages).toEqual([]);
  expect((await slow.getHistory(memoryId, {})).messages).toEqual([{ ...next, state: "live" }]);
});

test("a page of history that meets a sweep, then a writer, is no corrupt one", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2, { append: [large(1, "first")] });
  await one.updateMessages(memoryId, begin);
  const change = update(begin.version, 2, { replace: [large(1, "second")] });
  let finds = 0;
  const slow = beforeRows(async () => {
    finds++;
    if (finds === 2) await other.sweep();
    if (finds === 4) await other.updateMessages(memoryId, change);
  });
  const { messages: found } = await slow.getHistory(memoryId, {});
  expect(found).toEqual([{ ...large(1, "second"), state: "live" }]);
  expect(finds).toBe(6);
});

test("a beginning whose place another has taken meanwhile begins anew, whole", async () => {
  const memoryId = randomUUID();
  const theirs = waiting("updateOne");
  let begun: Promise<unknown> | undefined;
  const ours = interrupted("updateOne", 1, async () => {
    await other.deleteMessages(memoryId);
    const call = theirs.store.updateMessages(memoryId, update(null, 2, { append: [large(1, "theirs")] }));
    begun = call.then(
      () => "done",
      (error: { code: string }) => error.code,
    );
    await theirs.reached;
  });
  const change = update(null, 2, { append: [large(1, "ours")] });
  await ours.updateMessages(memoryId, change);
  theirs.go();
  expect(await begun).toBe("VERSION_CONFLICT");
  await one.sweep();
  expect((await one.getMessages(memoryId)).messages).toEqual(change.append);
});

test("an update that names a row which is removed meanwhile is VERSION_CONFLICT", async () => {
  const memoryId = randomUUID();
  const settled = update(await crowded(memoryId, 3), 15, { append: [message(14)] });
  await one.updateMessages(memoryId, settled);
  const to = (seq: number) => removal(settled.version, 15, seq);
  let removing: Promise<void> | undefined;
  const slow = beforeRows(() => {
    removing ??= other.updateMessages(memoryId, to(2));
    return removing;
  });
  await expect(slow.updateMessages(memoryId, to(2))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  // What never was there is still a mistake of the caller's.
  const { version: now } = await one.getMessages(memoryId);
  const wrong = removal(now as string, 15, 2);
  await expect(one.updateMessages(memoryId, wrong)).rejects.toMatchObject({ code: "INVALID_OPTION" });
});

test("an id that is damaged in a memory's document hides no message, however much it holds", async () => {
  const memoryId = randomUUID();
  await crowded(memoryId, 3);
  const memories = client.db(database).collection<{ _id: string }>("turnkeep_memories");
  await memories.updateOne({ _id: memoryId }, { $set: { "live.1.i": 7 } });
  expect(await seqsIn(memoryId)).toEqual(span(1, 13));
});
