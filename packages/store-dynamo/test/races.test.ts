import { randomUUID } from "node:crypto";
import type { MemoryUpdate, StoredMessage } from "@turnkeep/core";
import {
  expectAppendsToLand,
  expectWholeUpdates,
  gate,
  message,
  messages,
  update,
} from "@turnkeep/store-tests";
import { describe, expect, test, vi } from "vitest";
import { dynamoStore } from "../src/index.ts";
import {
  hurried,
  type Item,
  idsStored,
  inRows,
  interrupted,
  itemsBeside,
  itemsIn,
  newestBeside,
  takeHead,
  useOwnTable,
  wrapped,
} from "./support.ts";

const { tableName, client, open } = useOwnTable();
const [one, other] = [open(), open()];

test("30 concurrent optimistic appends by two clients all land, once and in one order", async () => {
  const memoryId = randomUUID();
  const ids = await expectAppendsToLand(one, other, memoryId, 30);
  // Those who lost have left nothing behind.
  expect(await idsStored(client, tableName, memoryId)).toEqual(ids.sort());
});

test("of many who begin an expired memory anew, one does, and a sweep leaves nothing of the old life", async () => {
  const memoryId = randomUUID();
  const short = open({ ttlMs: 1 });
  await short.updateMessages(memoryId, update(null, 4, { head: "1", owner: "old", append: messages(1, 3) }));
  while ((await one.getMessages(memoryId)).version !== null);
  const again = { ...message(1), id: "new life" };
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? one : other).updateMessages(memoryId, update(null, 2, { append: [again] })),
    ),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await other.getMessages(memoryId)).toMatchObject({ nextSeq: 2, messages: [again] });
  expect((await other.getHistory(memoryId, {})).messages).toEqual([{ ...again, state: "live" }]);
  expect((await one.listMemories({ owner: "old" })).memories).toEqual([]);
  expect(await one.sweep()).toEqual({ removed: 1 });
  expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toHaveLength(1);
  expect(await itemsBeside(client, tableName, memoryId)).toHaveLength(1);
});

test("a memory that began again where one had expired is listed once, before any sweep", async () => {
  const owner = "of two lives";
  const [short, long] = [open({ ttlMs: 1 }), open()];
  await short.updateMessages("two lives", update(null, 2, { owner, append: [message(1)] }));
  while ((await long.getMessages("two lives")).version !== null);
  await long.updateMessages("two lives", update(null, 2, { owner, append: [message(1)] }));
  for (const query of [{ owner }, {}]) {
    const listed = (await long.listMemories(query)).memories.filter(
      ({ memoryId }) => memoryId === "two lives",
    );
    expect(listed).toHaveLength(1);
  }
  await long.deleteMessages("two lives");
  expect(await long.sweep()).toEqual({ removed: 1 });
});

test("a head that the table's own expiry took leaves a memory absent, and a sweep removes the rest", async () => {
  const memoryId = randomUUID();
  await one.updateMessages(memoryId, update(null, 3, { owner: memoryId, append: messages(1, 2) }));
  await takeHead(client, tableName, memoryId);
  expect((await one.getMessages(memoryId)).version).toBeNull();
  expect((await one.listMemories({ owner: memoryId })).memories).toEqual([]);
  const again = update(null, 2, { owner: memoryId, append: [{ ...message(1), id: "later life" }] });
  await other.updateMessages(memoryId, again);
  expect((await one.getHistory(memoryId, {})).messages.map(({ id }) => id)).toEqual(["later life"]);
  expect(await one.sweep()).toEqual({ removed: 1 });
  expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toHaveLength(1);
  expect((await one.listMemories({ owner: memoryId })).memories).toHaveLength(1);
  expect(await itemsIn(client, tableName, `newest:owner:${memoryId}`)).toHaveLength(1);
  expect(await newestBeside(client, tableName, memoryId)).toHaveLength(1);
});

test("the table's own expiry takes a head in the second in which its memory ends, or the next", async () => {
  const memoryId = randomUUID();
  await open({ ttlMs: 60_000 }).updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
  const [head] = await itemsIn(client, tableName, `memory:${memoryId}`);
  expect(Number(head?.ttl?.N)).toBe(Math.ceil(Number(head?.endsAt?.N) / 1000));
});

test("a delete that comes late does not meet the next life", async () => {
  const memoryId = randomUUID();
  await one.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
  const slow = dynamoStore({
    tableName,
    client: interrupted(client, "GetItem", async () => {
      await one.deleteMessages(memoryId);
      await one.updateMessages(memoryId, update(null, 2, { append: [message(1, '"next life"')] }));
    }),
  });
  await slow.deleteMessages(memoryId);
  expect((await one.getMessages(memoryId)).messages).toEqual([message(1, '"next life"')]);
});

test("an update from a version that began anew after a delete goes to the new life", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 3, { owner: memoryId, append: inRows(1, 2) });
  await one.updateMessages(memoryId, begin);
  await other.deleteMessages(memoryId);
  // Sent again, as it may be by who has got no answer.
  await other.updateMessages(memoryId, begin);
  const next = update(begin.version, 4, { append: [message(3)], move: [{ seq: 1, to: "removed" }] });
  await one.updateMessages(memoryId, next);
  expect((await other.getMessages(memoryId)).messages.map(({ seq }) => seq)).toEqual([2, 3]);
  expect((await other.listMemories({ owner: memoryId })).memories).toMatchObject([{ memoryId }]);
  await one.sweep();
  expect((await other.getMessages(memoryId)).messages.map(({ seq }) => seq)).toEqual([2, 3]);
});

test("an append to a version that began anew after a delete takes nothing of the old life along", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 3, { append: inRows(1, 2) });
  await one.updateMessages(memoryId, begin);
  await other.deleteMessages(memoryId);
  await other.updateMessages(memoryId, begin);
  const next = update(begin.version, 4, { append: [message(3)] });
  await one.updateMessages(memoryId, next);
  expect((await other.getMessages(memoryId)).messages).toEqual([...begin.append, ...next.append]);
});

test("a sweep spares a memory that a process whose clock is behind has just prolonged", async () => {
  const memoryId = randomUUID();
  const ttlMs = 60 * 60 * 1000;
  const start = Date.now();
  const begin = update(null, 2, { append: [message(1)] });
  const store = open({ ttlMs });
  const next = update(begin.version, 3, { append: [message(2)] });
  try {
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    await store.updateMessages(memoryId, begin);
    vi.setSystemTime(start + ttlMs + 1_000);
    const sweeper = wrapped(client, async ({ operation, input }, send) => {
      const answer = await send();
      const key = input.Key as Item | undefined;
      if (operation !== "GetItem" || key?.pk?.S !== `memory:${memoryId}`) return answer;
      vi.setSystemTime(start + ttlMs - 1_000);
      await store.updateMessages(memoryId, next);
      vi.setSystemTime(start + ttlMs + 1_000);
      return answer;
    });
    await dynamoStore({ client: sweeper, tableName }).sweep();
    expect((await one.getMessages(memoryId)).messages).toEqual(messages(1, 2));
  } finally {
    vi.useRealTimers();
    await one.deleteMessages(memoryId);
  }
});

test("an update that meets a head newer than its rows waits for them, and loses nothing", async () => {
  const cases: [Partial<MemoryUpdate>, StoredMessage[], number[]][] = [
    [{ replace: [message(2, '"new"')] }, [message(2, '"new"'), ...inRows(3, 3)], [1, 2, 3]],
    [{ move: [{ seq: 2, to: "removed" as const }] }, inRows(3, 3), [1, 3]],
    [{ move: [{ seq: 1, to: "removed" as const }] }, [...messages(2, 2), ...inRows(3, 3)], [2, 3]],
    [{ move: [{ seq: 1, to: "live" as const }] }, [...messages(1, 2), ...inRows(3, 3)], [1, 2, 3]],
  ];
  for (const [change, live, history] of cases) {
    const memoryId = randomUUID();
    const begin = update(null, 3, { append: messages(1, 2) });
    await one.updateMessages(memoryId, begin);
    const moved = update(begin.version, 4, { append: inRows(3, 3), move: [{ seq: 1, to: "evicted" }] });
    await one.updateMessages(memoryId, moved);
    let left = 3;
    const early = wrapped(client, async ({ operation }, send) => {
      const answer = (await send()) as object;
      return operation === "Query" && left-- > 0 ? { ...answer, Items: [] } : answer;
    });
    const store = dynamoStore({ client: early, tableName });
    await store.updateMessages(memoryId, update(moved.version, 4, change));
    expect((await other.getMessages(memoryId)).messages).toEqual(live);
    expect((await other.getHistory(memoryId, {})).messages.map(({ seq }) => seq)).toEqual(history);
  }
});

test("an update that meets a row whose parts another update has just replaced is VERSION_CONFLICT", async () => {
  const memoryId = randomUUID();
  const long = (seq: number, bytes: number) => message(seq, `"${"x".repeat(bytes)}"`);
  const append = [long(1, 18_000), long(2, 18_000), long(3, 18_000), long(4, 300_000), message(5)];
  const begin = update(null, 6, {
    append,
    move: [1, 2, 3, 4].map((seq) => ({ seq, to: "evicted" as const })),
  });
  await one.updateMessages(memoryId, begin);
  const isTorn = (items: Item[] | undefined): boolean =>
    items?.some(({ token }) => token !== undefined) === true;
  let stale: Item[] | undefined;
  const recorder = wrapped(client, async (_, send) => {
    const answer = (await send()) as { Items?: Item[] };
    if (isTorn(answer.Items)) stale = answer.Items?.filter(({ token }) => token !== undefined).slice(0, 1);
    return answer;
  });
  await dynamoStore({ tableName, client: recorder }).getHistory(memoryId, {});
  const moving = update(begin.version, 7, { append: [long(6, 5_000)] });
  await one.updateMessages(memoryId, moving);
  const removing = update(moving.version, 7, { move: [{ seq: 1, to: "removed" }] });
  await one.updateMessages(memoryId, removing);
  // The row as it was on a first page, and its parts gone before the second.
  const tearing = wrapped(client, async ({ operation }, send) => {
    const answer = (await send()) as { Items?: Item[] };
    return operation === "Query" && isTorn(answer.Items) ? { ...answer, Items: stale } : answer;
  });
  const back = update(removing.version, 7, { move: [{ seq: 2, to: "live" }] });
  const call = dynamoStore({ tableName, client: tearing }).updateMessages(memoryId, back);
  await expect(call).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  await other.updateMessages(memoryId, back);
  expect((await one.getMessages(memoryId)).messages.map(({ seq }) => seq)).toEqual([2, 5, 6]);
});

test.each([
  ["just moved out of the head", false],
  ["stood in a row for long", true],
])(
  "an update that another has made impossible is VERSION_CONFLICT: what it names has %s",
  async (_, isOld) => {
    const memoryId = randomUUID();
    const move = [{ seq: 1, to: "evicted" as const }];
    let last = update(null, 3, { append: inRows(1, 2), move });
    await one.updateMessages(memoryId, last);
    if (isOld) {
      last = update(last.version, 5, { append: inRows(3, 4) });
      await one.updateMessages(memoryId, last);
    }
    await other.getMessages(memoryId);
    const removes = { move: [{ seq: 1, to: "removed" as const }] };
    await one.updateMessages(memoryId, update(last.version, 5, removes));
    const call = other.updateMessages(memoryId, update(last.version, 5, removes));
    await expect(call).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  },
);

/** Of five messages the last is live; 3 and 4 were evicted in the head, and have just moved into a row with each other. */
async function movedEvicted(memoryId: string): Promise<{ version: string }> {
  await one.updateMessages(memoryId, { ...update(null, 3, { append: inRows(1, 2) }), version: "1" });
  const move = [1, 2, 3, 4].map((seq) => ({ seq, to: "evicted" as const }));
  const evicting = update("1", 5, { append: messages(3, 4), move });
  await one.updateMessages(memoryId, evicting);
  const moving = update(evicting.version, 6, { append: inRows(5, 5) });
  await one.updateMessages(memoryId, moving);
  return moving;
}

test("an update that meets a row as it was before another one brings nothing back that is removed", async () => {
  for (const [seq, to, seqs] of [
    [3, "removed", [1, 2, 5]],
    [4, "live", [1, 2, 3, 5]],
  ] as const) {
    const memoryId = randomUUID();
    const { version } = await movedEvicted(memoryId);
    const items = await itemsIn(client, tableName, `memory:${memoryId}`);
    const stale = items.find(({ rows }) => rows?.S?.includes('"m4"')) as Item;
    const removing = update(version, 6, { move: [{ seq: 4, to: "removed" }] });
    await one.updateMessages(memoryId, removing);
    let isMet = false;
    const early = wrapped(client, async ({ operation }, send) => {
      const answer = (await send()) as { Items?: Item[] };
      if (isMet || !answer.Items?.some(({ sk }) => sk?.S === stale.sk?.S)) return answer;
      isMet = operation === "Query";
      return { ...answer, Items: answer.Items.map((item) => (item.sk?.S === stale.sk?.S ? stale : item)) };
    });
    const call = dynamoStore({ client: early, tableName }).updateMessages(
      memoryId,
      update(removing.version, 6, { move: [{ seq, to }] }),
    );
    if (to === "removed") await call;
    else await expect(call).rejects.toMatchObject({ code: "INVALID_OPTION" });
    expect(isMet).toBe(true);
    expect((await other.getHistory(memoryId, {})).messages.map(({ seq }) => seq)).toEqual(seqs);
    expect((await other.getMessages(memoryId)).messages.map(({ seq }) => seq)).toEqual([5]);
  }
});

describe("a read that meets an update", () => {
  /** Reads the head, then lets an update take place before the messages are read. */
  test("is repeated: after a replacement, an append with an eviction, a removal, moving out, a staged one", async () => {
    const memoryId = randomUUID();
    const begin = update(null, 5, { head: "0", append: inRows(1, 4) });
    await one.updateMessages(memoryId, begin);
    const large = `"${"x".repeat(500_000)}"`;
    let { version, nextSeq } = begin;
    for (const change of [
      { append: [], replace: [message(2, '"new"')] },
      { append: [message(5)], replace: [message(3, '"new"')], move: [{ seq: 1, to: "evicted" as const }] },
      { append: [], move: [{ seq: 2, to: "removed" as const }] },
      { append: inRows(6, 6), replace: [message(3, '"newer"')] },
      { append: [message(7, large)], replace: [message(4, large)] },
    ]) {
      const next = update(version, nextSeq + change.append.length, { ...change, head: "next" });
      const tearing = dynamoStore({
        tableName,
        client: interrupted(client, "GetItem", () => one.updateMessages(memoryId, next)),
      });
      const seen = await tearing.getMessages(memoryId);
      expect(seen).toEqual(await other.getMessages(memoryId));
      // What only leaves memory harms no reader of the state before.
      expect([version, next.version]).toContain(seen.version);
      ({ version, nextSeq } = next);
    }
  });

  test.each(["getMessages", "getHistory"] as const)(
    "is repeated when the head is newer than messages that are still to be changed: %s",
    async (call) => {
      const memoryId = randomUUID();
      const begin = update(null, 3, { append: inRows(1, 2) });
      await one.updateMessages(memoryId, begin);
      const stale: { Items?: Item[] }[] = [];
      let asked = 0;
      const tearing = dynamoStore({
        tableName,
        client: wrapped(client, async ({ operation }, send) => {
          const answer = (await send()) as { Items?: Item[] };
          if (operation !== "Query") return answer;
          stale.push(answer);
          asked++;
          // The second read gets the new head, and once more the messages as they were.
          return asked === 2 ? stale[0] : answer;
        }),
      });
      await tearing[call](memoryId, {});
      const change = update(begin.version, 3, { replace: [message(1, '"new"')] });
      await one.updateMessages(memoryId, change);
      const seen = await tearing[call](memoryId, {});
      const version = call === "getMessages" ? { version: change.version } : {};
      expect(seen).toMatchObject({ ...version, messages: [message(1, '"new"'), ...inRows(2, 2)] });
      expect(asked).toBe(3);
    },
  );

  test("of history that meets one between its pages lists all that is not removed", async () => {
    for (const order of ["ascending", "descending"] as const) {
      const memoryId = randomUUID();
      // Many that share a row in parts, and one that is in the head.
      const append = messages(1, 900).map(({ seq }) => message(seq, `"${"x".repeat(600)}"`));
      const move = append.map(({ seq }) => ({ seq, to: "evicted" as const }));
      const begin = update(null, 902, { append: [...append, message(901)], move });
      await one.updateMessages(memoryId, begin);
      const removed = { seq: 2, to: "removed" as const };
      const change = update(begin.version, 902, { move: [removed] });
      let changing: Promise<void> | undefined;
      // After the row itself, before its parts; or the other way round.
      const slow = wrapped(client, async ({ operation, input }, send) => {
        if (operation === "Query") input.Limit = 1;
        const answer = (await send()) as { Items?: Item[] };
        const isRow = answer.Items?.some(({ sk }) => sk?.S?.split("/")[1] === "m");
        if (isRow && answer.Items?.[0]?.rows === undefined) changing ??= one.updateMessages(memoryId, change);
        await changing;
        return answer;
      });
      const store = dynamoStore({ client: slow, tableName });
      const seen = (await store.getHistory(memoryId, { order, limit: 1_000 })).messages;
      expect(changing).toBeDefined();
      const seqs = seen.map(({ seq }) => seq).filter((seq) => seq !== 2);
      const all = messages(1, 901)
        .map(({ seq }) => seq)
        .filter((seq) => seq !== 2);
      expect(order === "ascending" ? seqs : seqs.reverse()).toEqual(all);
    }
  });

  test.each(["getMessages", "getHistory"] as const)(
    "is repeated as often as it meets another one: %s",
    async (call) => {
      const memoryId = randomUUID();
      let { version }: { version: string } = update(null, 3);
      await one.updateMessages(memoryId, { ...update(null, 3, { append: inRows(1, 2) }), version });
      let left = 8;
      const slow = wrapped(client, async ({ operation }, send) => {
        if (operation === "Query" && left-- > 0) {
          const change = update(version, 3, { replace: [message(1, `"${left}"`)] });
          ({ version } = change);
          await one.updateMessages(memoryId, change);
        }
        return send();
      });
      const seen = await dynamoStore({ client: slow, tableName })[call](memoryId, {});
      expect(seen).toMatchObject({ messages: [message(1, '"0"'), ...inRows(2, 2)] });
      if (call === "getMessages") expect(seen).toMatchObject({ version });
    },
  );

  test("of history that meets one within its last page lists all that is not removed", async () => {
    const memoryId = randomUUID();
    const append = [message(1, `"${"x".repeat(40_000)}"`), ...inRows(2, 2), message(3)];
    const move = [1, 2].map((seq) => ({ seq, to: "evicted" as const }));
    await one.updateMessages(memoryId, update(null, 4, { append, move }));
    let asked = 0;
    const tearing = wrapped(client, async ({ operation }, send) => {
      const answer = (await send()) as { Items?: Item[] };
      if (operation !== "Query" || ++asked > 1) return answer;
      // A row as it was, whose part is gone by now.
      return { ...answer, Items: answer.Items?.filter(({ parts, count }) => parts ?? count) };
    });
    const seen = await dynamoStore({ client: tearing, tableName }).getHistory(memoryId, {});
    expect(seen.messages.map(({ id }) => id)).toEqual(["m1", "m2", "m3"]);
  });

  test("of history whose rows are still to be written lists what the head says is live", async () => {
    const memoryId = randomUUID();
    const begin = update(null, 3, { append: messages(1, 2) });
    await one.updateMessages(memoryId, begin);
    let asked = 0;
    const tearing = dynamoStore({
      tableName,
      client: wrapped(client, async ({ operation }, send) => {
        const answer = (await send()) as object;
        return operation === "Query" && ++asked === 1 ? { ...answer, Items: [] } : answer;
      }),
    });
    await one.updateMessages(memoryId, update(begin.version, 4, { append: inRows(3, 3) }));
    for (const query of [{}, { order: "descending" as const, limit: 2 }, { ids: ["m1", "m2"] }]) {
      asked = 0;
      const { messages: seen } = await tearing.getHistory(memoryId, query);
      const seqs = seen.map(({ seq }) => seq);
      expect(seqs).toEqual("ids" in query ? [1, 2] : "limit" in query ? [3, 2] : [1, 2, 3]);
    }
  });

  test("of history awaits no row whose messages were removed, and none of an update that was refused", async () => {
    const memoryId = randomUUID();
    let { version } = await movedEvicted(memoryId);
    const asked: string[] = [];
    const counting = dynamoStore({
      tableName,
      client: wrapped(client, ({ operation }, send) => {
        asked.push(operation);
        return send();
      }),
    });
    // The entry of an id that came too late leads to a row that holds another.
    const late = update("1", 4, { append: [{ ...message(3, `"${"x".repeat(4_000)}"`), id: "late" }] });
    await expect(one.updateMessages(memoryId, late)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect((await counting.getHistory(memoryId, { ids: ["late", "m4"] })).messages).toMatchObject([
      { id: "m4" },
    ]);
    expect(asked.filter((operation) => operation === "GetItem")).toHaveLength(1);
    for (const seq of [4, 3]) {
      const change = update(version, 6, { move: [{ seq, to: "removed" }] });
      await one.updateMessages(memoryId, change);
      ({ version } = change);
      asked.length = 0;
      const { messages: seen } = await counting.getHistory(memoryId, {});
      expect(seen.map((found) => found.seq)).toEqual([1, 2, 3, 5].filter((left) => left < seq || left === 5));
      expect(asked.filter((operation) => operation === "GetItem")).toHaveLength(1);
    }
  });
});

test("readers meet all of an update or none", () =>
  expectWholeUpdates(one, other, { updates: 30, to: "removed" }));

describe("an update that pauses while it is staged", () => {
  /** A store that does something after so many writes of staged items, and waits for it. */
  function pausing(meanwhile: () => Promise<unknown>, options: { ttlMs?: number } = {}) {
    let isFirst = true;
    const paused = wrapped(client, async ({ operation }, send) => {
      if (operation === "BatchWriteItem" && isFirst) {
        isFirst = false;
        await meanwhile();
      }
      return send();
    });
    return dynamoStore({ client: paused, tableName, ...options });
  }
  const staged = [message(3, `"${"x".repeat(40_000)}"`), ...inRows(4, 5)];
  const sweeper = dynamoStore({ client: hurried(client), tableName });

  test("until a sweep has given it up is staged anew, and what it wrote late does not stay", async () => {
    for (const begins of [true, false]) {
      const memoryId = randomUUID();
      const begin = update(null, 3, { append: messages(1, 2) });
      if (!begins) await one.updateMessages(memoryId, begin);
      const store = pausing(() => sweeper.sweep());
      await store.updateMessages(memoryId, update(begins ? null : begin.version, 6, { append: staged }));
      const kept = [...(begins ? [] : begin.append), ...staged];
      expect((await other.getMessages(memoryId)).messages).toEqual(kept);
      expect(await idsStored(client, tableName, memoryId)).toEqual(kept.map(({ id }) => id));
      const places = (await itemsIn(client, tableName, `memory:${memoryId}`)).map(
        ({ sk }) => sk?.S?.split("/")[0],
      );
      expect(new Set(places).size).toBe(2);
      expect(await itemsBeside(client, tableName, memoryId)).toHaveLength(1);
    }
  });

  test("and commits before a sweep gives it up keeps what it staged", async () => {
    const memoryId = randomUUID();
    const begin = update(null, 3, { append: messages(1, 2) });
    await one.updateMessages(memoryId, begin);
    const [aboutToGiveUp, committed] = [gate(), gate()];
    const slow = wrapped(client, async ({ operation }, send) => {
      if (operation === "PutItem") {
        aboutToGiveUp.open();
        await committed.opened;
      }
      return send();
    });
    let sweeping: Promise<unknown> | undefined;
    const store = pausing(() => {
      sweeping = dynamoStore({ client: hurried(slow), tableName }).sweep();
      return aboutToGiveUp.opened;
    });
    await store.updateMessages(memoryId, update(begin.version, 6, { append: staged }));
    committed.open();
    expect(await sweeping).toEqual({ removed: 0 });
    expect((await other.getMessages(memoryId)).messages).toEqual([...begin.append, ...staged]);
    expect(await itemsBeside(client, tableName, memoryId)).toHaveLength(1);
  });

  test("that begins a memory is whole when a sweep that has given it up goes on later", async () => {
    const memoryId = randomUUID();
    const [gaveUp, goesOn] = [gate(), gate()];
    let isGivenUp = false;
    const slow = wrapped(client, async ({ operation }, send) => {
      if (operation === "Query" && isGivenUp) await goesOn.opened;
      const answer = await send();
      isGivenUp ||= operation === "PutItem";
      if (isGivenUp) gaveUp.open();
      return answer;
    });
    let sweeping: Promise<unknown> | undefined;
    const store = pausing(() => {
      sweeping = dynamoStore({ client: hurried(slow), tableName }).sweep();
      return gaveUp.opened;
    });
    await store.updateMessages(memoryId, update(null, 6, { append: staged }));
    goesOn.open();
    await sweeping;
    expect((await other.getMessages(memoryId)).messages).toEqual(staged);
    expect((await other.getHistory(memoryId, { ids: ["m5"] })).messages).toHaveLength(1);
  });

  test("until its memory is deleted leaves nothing", async () => {
    for (const append of [staged, inRows(3, 5)]) {
      const memoryId = randomUUID();
      const begin = update(null, 3, { append: messages(1, 2) });
      await one.updateMessages(memoryId, begin);
      const store = pausing(() => one.deleteMessages(memoryId));
      const call = store.updateMessages(memoryId, update(begin.version, 6, { append }));
      await expect(call).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
      expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toEqual([]);
      expect(await itemsBeside(client, tableName, memoryId)).toEqual([]);
    }
  });

  test("until its memory has expired does not bring it back", async () => {
    const memoryId = randomUUID();
    const options = { ttlMs: 60 * 60 * 1000 };
    const begin = update(null, 3, { append: messages(1, 2) });
    await open(options).updateMessages(memoryId, begin);
    try {
      const store = pausing(async () => {
        vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * options.ttlMs });
        expect((await one.getMessages(memoryId)).version).toBeNull();
      }, options);
      const call = store.updateMessages(memoryId, update(begin.version, 6, { append: staged }));
      await expect(call).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
      expect((await one.getMessages(memoryId)).version).toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });
});
