import { randomUUID } from "node:crypto";
import type { MemorySnapshot, MemoryUpdate, StoredMessage } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import { describe, expect, test } from "vitest";
import { dynamoStore } from "../src/index.ts";
import {
  dying,
  fault,
  idsStored,
  itemsBeside,
  itemsIn,
  later,
  sized,
  useOwnTable,
  wrapped,
} from "./support.ts";

const { tableName, client } = useOwnTable();
const store = dynamoStore({ client, tableName });

const large = (seq: number, letter = "x"): StoredMessage => sized(seq, 500_000, letter);

/** A death at every third write, for each kind of update from another one on; in `npm run thorough` at every write. */
const stride = process.env.TURNKEEP_THOROUGH ? 1 : 3;

const kinds: [name: string, begin: MemoryUpdate, change: (begin: MemoryUpdate) => MemoryUpdate][] = [
  [
    "that moves the newest messages out of the head",
    update(null, 5, { head: "1", owner: "o", append: messages(1, 4) }),
    ({ version }) =>
      update(version, 6, {
        head: "2",
        append: [sized(5, 3_000)],
        replace: [message(2, '"new"')],
        move: [
          { seq: 1, to: "removed" },
          { seq: 3, to: "superseded" },
        ],
      }),
  ],
  [
    "of a message over 400 KB",
    update(null, 4, { head: "1", owner: "o", append: [message(1), large(2), message(3)] }),
    ({ version }) =>
      update(version, 5, {
        head: "2",
        append: [large(4)],
        replace: [large(2, "y"), message(3, '"new"')],
        move: [{ seq: 1, to: "removed" }],
      }),
  ],
  [
    "of more than 100 items",
    update(null, 41, { head: "1", owner: "o", append: messages(1, 40) }),
    ({ version }) =>
      update(version, 101, {
        head: "2",
        append: messages(41, 100),
        replace: messages(10, 20).map((one) => ({ ...one, payload: '"new"' })),
        move: [
          ...messages(1, 9).map(({ seq }) => ({ seq, to: "superseded" as const })),
          ...messages(21, 30).map(({ seq }) => ({ seq, to: "removed" as const })),
        ],
      }),
  ],
  [
    "of more than 4 MB",
    update(null, 3, { head: "1", append: messages(1, 2) }),
    ({ version }) =>
      update(version, 15, {
        head: "2",
        append: messages(3, 14).map(({ seq }) => sized(seq, 370_000)),
        move: [{ seq: 1, to: "evicted" }],
      }),
  ],
];

/** What the memory is before and after an update. */
async function states(begin: MemoryUpdate, change: MemoryUpdate): Promise<[MemorySnapshot, MemorySnapshot]> {
  await store.updateMessages("model", begin);
  const before = await store.getMessages("model");
  await store.updateMessages("model", change);
  const after = await store.getMessages("model");
  await store.deleteMessages("model");
  return [before, after];
}

describe.each(kinds)("an update %s", (name, begin, changeOf) => {
  const change = changeOf(begin);

  test("is there as it was sent, in memory and in history, and leaves nothing behind", async () => {
    await store.updateMessages(name, begin);
    await store.updateMessages(name, change);
    const payloads = new Map([...begin.append, ...change.append, ...change.replace].map((m) => [m.seq, m]));
    const moved = new Map<number, string>(change.move.map(({ seq, to }) => [seq, to]));
    const kept = [...payloads.values()].filter(({ seq }) => moved.get(seq) !== "removed");
    expect(await store.getMessages(name)).toMatchObject({
      head: "2",
      version: change.version,
      messages: kept.filter(({ seq }) => !moved.has(seq)),
    });
    for (const order of ["ascending", "descending"] as const) {
      const expected = kept.map((one) => ({ ...one, state: moved.get(one.seq) ?? "live" }));
      const page = await store.getHistory(name, { order, limit: 1_000 });
      expect(page.messages).toEqual(order === "ascending" ? expected : expected.reverse());
    }
    expect(await idsStored(client, tableName, name)).toEqual(kept.map(({ id }) => id).sort());
    expect((await itemsBeside(client, tableName, name)).filter(({ stage }) => stage)).toEqual([]);
    await store.updateMessages(name, change);
    await store.deleteMessages(name);
    expect(await itemsIn(client, tableName, `memory:${name}`)).toEqual([]);
  });

  test("appears at once or not at all wherever the process dies, and a sweep removes what is left", async () => {
    const [before, after] = await states(begin, change);
    const seen = new Set<string>();
    const first = 1 + (kinds.findIndex(([kind]) => kind === name) % stride);
    for (let step = first, isDone = false; !isDone; step += stride) {
      await store.updateMessages(name, begin);
      const mortal = dynamoStore({ client: dying(client, { step }), tableName });
      isDone = await mortal.updateMessages(name, change).then(
        () => true,
        () => false,
      );
      const state = await store.getMessages(name);
      const isAfter = state.version === change.version;
      expect(state).toEqual(isAfter ? after : before);
      seen.add(`${isAfter}`);
      // What is never committed shows in no history either.
      const history = await store.getHistory(name, { limit: 1_000 });
      const append = history.messages.filter(({ seq }) => seq >= begin.nextSeq);
      expect(append).toHaveLength(isAfter ? change.append.length : 0);
      await later(() => store.sweep());
      expect(await store.getMessages(name)).toEqual(isAfter ? after : before);
      expect(await store.getHistory(name, { limit: 1_000 })).toEqual(history);
      const kept = history.messages.map(({ id }) => id).sort();
      expect(await idsStored(client, tableName, name)).toEqual(kept);
      expect((await itemsBeside(client, tableName, name)).filter(({ stage }) => stage)).toEqual([]);
      await store.deleteMessages(name);
    }
    expect(seen).toEqual(new Set(["true", "false"]));
  }, 120_000);
});

test("a beginning that dies shows nowhere, and a sweep removes it", async () => {
  const begin = update(null, 202, { owner: "dies", append: messages(1, 201) });
  for (let step = 1, isDone = false; !isDone; step += stride) {
    const memoryId = `dies ${step}`;
    const mortal = dynamoStore({ client: dying(client, { step }), tableName });
    isDone = await mortal.updateMessages(memoryId, begin).then(
      () => true,
      () => false,
    );
    if (isDone) break;
    expect((await store.getMessages(memoryId)).version).toBeNull();
    expect((await store.listMemories({ owner: "dies" })).memories).toEqual([]);
    expect(await store.sweep()).toEqual({ removed: 0 });
    await later(() => store.sweep());
    expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toEqual([]);
    expect(await itemsBeside(client, tableName, memoryId)).toEqual([]);
  }
}, 60_000);

test("what is staged is given up after an hour, and not before", async () => {
  const mortal = dynamoStore({ client: dying(client, { step: 3 }), tableName });
  await expect(mortal.updateMessages("hour", update(null, 2, { append: [large(1)] }))).rejects.toThrow();
  expect(await later(() => store.sweep(), 59)).toEqual({ removed: 0 });
  expect(await itemsIn(client, tableName, "memory:hour")).not.toEqual([]);
  expect(await later(() => store.sweep(), 61)).toEqual({ removed: 1 });
  expect(await itemsIn(client, tableName, "memory:hour")).toEqual([]);
});

test.each<[string, MemoryUpdate, Partial<MemoryUpdate>]>([
  ["of new messages", update(null, 3, { append: [message(1)] }), { append: [large(3)] }],
  ["of a replacement", update(null, 3, { append: [message(1), large(2)] }), { replace: [large(2, "y")] }],
])(
  "a staged update %s that a sweep gave up when it came to commit is staged again",
  async (name, begin, change) => {
    await store.updateMessages(name, begin);
    let swept: unknown;
    const slow = dynamoStore({
      tableName,
      client: wrapped(client, async ({ operation }, send) => {
        if (operation === "TransactWriteItems" && swept === undefined) {
          swept = await later(() => store.sweep());
        }
        return send();
      }),
    });
    const next = update(begin.version, 4, change);
    await slow.updateMessages(name, next);
    expect(swept).toEqual({ removed: 1 });
    const expected = new Map([...begin.append, ...next.append, ...next.replace].map((one) => [one.seq, one]));
    expect((await store.getMessages(name)).messages).toEqual([...expected.values()]);
    expect(await idsStored(client, tableName, name)).toEqual([...expected.values()].map(({ id }) => id));
  },
);

describe("a refused update whose staged rows cannot be removed", () => {
  /** Meets another one when it comes to commit; then the first such write of its own fails, after `meanwhile`. */
  async function refused(operation: string, signal?: AbortSignal, meanwhile = (): void => {}) {
    const memoryId = randomUUID();
    const begin = update(null, 2, { append: [message(1)] });
    const others = update(begin.version, 2, { replace: [message(1, '"theirs"')] });
    await store.updateMessages(memoryId, begin);
    const left = ["TransactWriteItems", operation];
    const meeting = wrapped(client, async (sent, send) => {
      if (sent.operation !== left[0]) return send();
      left.shift();
      if (left.length > 0) {
        await store.updateMessages(memoryId, others);
        return send();
      }
      meanwhile();
      throw fault("InternalServerError", {}, 500);
    });
    const late = update(begin.version, 3, { append: [large(2)] });
    const call = dynamoStore({ client: meeting, tableName }).updateMessages(memoryId, late, { signal });
    await expect(call).rejects.toMatchObject({ code: signal ? "ABORTED" : "VERSION_CONFLICT" });
    expect(left).toEqual([]);
    expect(await store.getMessages(memoryId)).toMatchObject({ messages: others.replace });
    expect(await idsStored(client, tableName, memoryId)).toContain("m2");
    await later(() => store.sweep());
    expect(await idsStored(client, tableName, memoryId)).toEqual(["m1"]);
  }

  test.each(["PutItem", "BatchWriteItem"])(
    "is refused all the same, and a sweep removes them: %s",
    (operation) => refused(operation),
  );

  test("ends with the caller's signal", async () => {
    const caller = new AbortController();
    await refused("PutItem", caller.signal, () => caller.abort());
  });
});

test("an interrupted delete is absent at once, and a sweep removes the rest", async () => {
  for (let step = 1, isDone = false; !isDone; step++) {
    await store.updateMessages("deleted", update(null, 202, { owner: "deleted", append: messages(1, 201) }));
    const mortal = dynamoStore({ client: dying(client, { step }), tableName });
    isDone = await mortal.deleteMessages("deleted").then(
      () => true,
      () => false,
    );
    const { version } = await store.getMessages("deleted");
    if (step === 1) expect(version).not.toBeNull();
    else {
      expect(version).toBeNull();
      expect((await store.listMemories({ owner: "deleted" })).memories).toEqual([]);
      expect((await store.sweep()).removed).toBe(isDone ? 0 : 1);
      expect(await itemsIn(client, tableName, "memory:deleted")).toEqual([]);
    }
    await store.deleteMessages("deleted");
  }
}, 60_000);

test("a message in parts is divided between characters", async () => {
  const append = messages(1, 4).map(({ seq }) => message(seq, `"${"x".repeat(seq)}${"😀".repeat(100_000)}"`));
  await store.updateMessages("characters", update(null, 5, { append }));
  const { messages: seen } = await store.getMessages("characters");
  expect(seen.map(({ payload }, index) => payload === append[index]?.payload)).toEqual(
    append.map(() => true),
  );
});
