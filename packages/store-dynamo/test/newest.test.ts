import { randomUUID } from "node:crypto";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { idsOf, message, newestOf, pagedIdsOf, update } from "@turnkeep/store-tests";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type DynamoStore, dynamoStore } from "../src/index.ts";
import {
  type Begun,
  begunBy,
  dying,
  interrupted,
  itemsIn,
  newestBeside,
  takeHead,
  useOwnTable,
  wrapped,
} from "./support.ts";

const { tableName, client, open } = useOwnTable();
const [one, other] = [open(), open()];
const newest = "newest" as const;

afterEach(() => void vi.useRealTimers());

/** Stops the clock; the answer sets it forward. */
function stopClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ["Date"] });
  return (ms) => void vi.setSystemTime(Date.now() + ms);
}

function begun(owner: string | undefined, memoryId?: string, store: DynamoStore = one): Promise<Begun> {
  return begunBy(store, update(null, 2, { owner, append: [message(1)] }), memoryId);
}

/** Where a memory's entries of an owner's listings are: in the stored order, and by activity. */
async function entriesOf(owner: string): Promise<[number, number]> {
  const [stored, byActivity] = await Promise.all([
    itemsIn(client, tableName, `owner:${owner}`),
    itemsIn(client, tableName, `newest:owner:${owner}`),
  ]);
  return [stored.length, byActivity.length];
}

describe("activity is noted", () => {
  test.each([
    ["by the minute", undefined, 60_000],
    ["as the option says", 5_000, 5_000],
  ])("%s, and updatedAt stays exact", async (_, activityMs, granularity) => {
    const store = open(activityMs === undefined ? {} : { activityMs });
    const pass = stopClock();
    const owner = randomUUID();
    const first = await begun(owner, "first", store);
    pass(1);
    await begun(owner, "second", store);
    pass(granularity - 2);
    await first.write();
    expect(await newestOf(other, { owner })).toEqual(["second", "first"]);
    const [, listed] = (await other.listMemories({ owner, order: newest })).memories;
    expect(listed?.updatedAt).toBe(Date.now());
    pass(1);
    await first.write();
    expect(await newestOf(other, { owner })).toEqual(["first", "second"]);
    expect((await newestOf(other)).slice(0, 2)).toEqual(["first", "second"]);
    // What was noted counts anew from then on.
    pass(granularity - 1);
    await first.write();
    expect(await entriesOf(owner)).toEqual([2, 2]);
    pass(1);
    await begun(owner, "third", store);
    expect(await newestOf(other, { owner })).toEqual(["third", "first", "second"]);
    for (const memoryId of ["first", "second", "third"]) await store.deleteMessages(memoryId);
    expect(await entriesOf(owner)).toEqual([0, 0]);
  });

  test("by a process whose clock is behind, too, once the other's note is old", async () => {
    const pass = stopClock();
    const owner = randomUUID();
    const memory = await begun(owner, undefined, open({ activityMs: 10 }));
    pass(-5);
    await memory.write();
    await memory.write({ owner: `${owner} 2` });
    // The activity grows all the same.
    const [entry] = await itemsIn(client, tableName, `newest:owner:${owner} 2`);
    expect(Number(entry?.sk?.S?.slice(0, 16))).toBe(Date.now() + 6);
  });
});

describe("an owner's change", () => {
  test("shows at once in both owners' listings and in everybody's, in both orders", async () => {
    const [guest, user] = [randomUUID(), randomUUID()];
    const memory = await begun(guest);
    const later = await begun(user);
    await memory.write({ owner: user }, other);
    for (const order of ["stored", newest] as const) {
      expect(await idsOf(one, { owner: guest, order })).toEqual([]);
      expect((await idsOf(one, { owner: user, order })).sort()).toEqual(
        [memory.memoryId, later.memoryId].sort(),
      );
      const everybody = (await one.listMemories({ order, limit: 1_000 })).memories;
      expect(everybody.find(({ memoryId }) => memoryId === memory.memoryId)).toMatchObject({ owner: user });
    }
    expect(await newestOf(other, { owner: user })).toEqual([memory.memoryId, later.memoryId]);
    expect(await entriesOf(guest)).toEqual([0, 0]);
    // The entry of the memory among all leads to its new owner's, when its head is gone.
    await takeHead(client, tableName, memory.memoryId);
    await one.sweep();
    expect(await entriesOf(user)).toEqual([1, 1]);
  });

  test("of two at once, one is made, and the other leaves nothing", async () => {
    const owners = [randomUUID(), randomUUID(), randomUUID()] as const;
    const { memoryId, write } = await begun(owners[0]);
    await Promise.all([one, other].map((store) => store.getMessages(memoryId)));
    const results = await Promise.allSettled([
      write({ owner: owners[1] }, one),
      write({ owner: owners[2] }, other),
    ]);
    const won = results.findIndex(({ status }) => status === "fulfilled");
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    for (const [index, owner] of owners.entries()) {
      const is = index === won + 1 ? [memoryId] : [];
      for (const order of ["stored", newest] as const)
        expect(await idsOf(other, { owner, order })).toEqual(is);
      expect(await entriesOf(owner)).toEqual([is.length, is.length]);
    }
    expect(await newestBeside(client, tableName, memoryId)).toHaveLength(1);
  });

  test("that a listing meets hides the memory from who has it no more", async () => {
    const [guest, user] = [randomUUID(), randomUUID()];
    const memory = await begun(guest);
    for (const order of ["stored", newest] as const) {
      const meeting = interrupted(client, "Query", () => memory.write({ owner: user }));
      expect(await idsOf(dynamoStore({ client: meeting, tableName }), { owner: guest, order })).toEqual([]);
      await memory.write({ owner: guest });
    }
  });
});

describe("the newest, page by page", () => {
  test("are there once, whatever began or was written to in one millisecond", async () => {
    stopClock();
    const prefix = `${randomUUID()}:`;
    const store = open({ prefix });
    const ids = ["b", "a", "é", "🙂", "\uffee", "a!", "c"];
    for (const id of ids) await begun("ties", id, store);
    const ordered = [...ids].sort((a, b) => Buffer.compare(Buffer.from(`${b}/`), Buffer.from(`${a}/`)));
    for (const limit of [1, 3, 7]) {
      expect(await pagedIdsOf(store, { owner: "ties", order: newest, limit })).toEqual(ordered);
      expect(await pagedIdsOf(store, { order: newest, limit })).toEqual(ordered);
    }
    expect((await pagedIdsOf(store, { limit: 2 })).sort()).toEqual([...ids].sort());
  });

  test.each([["an owner's"], ["everybody's"]])(
    "of %s hold what nobody writes to once, in its order",
    async (whose) => {
      const prefix = `${randomUUID()}:`;
      const store = open({ prefix, activityMs: 1 });
      const owner = whose === "everybody's" ? undefined : "o";
      const busy = [await begun("o", "busy 1", store), await begun("o", "busy 2", store)];
      const still: string[] = [];
      for (let n = 0; n < 9; n++) {
        still.unshift((await begun("o", `still ${n}`, store)).memoryId);
        await vi.waitUntil(
          (
            (last) => () =>
              Date.now() > last
          )(Date.now()),
          { interval: 1 },
        );
        await busy[n % 2]?.write();
      }
      const found = await pagedIdsOf(store, { owner, order: newest, limit: 2 }, async () => {
        for (const { write } of busy) await write();
      });
      expect(found.filter((id) => id.startsWith("still"))).toEqual(still);
    },
  );

  test("show a memory once that a query meets at two places, and pass over those that are gone", async () => {
    const owner = randomUUID();
    const moving = await begun(owner);
    const gone = await begun(owner, undefined, open({ ttlMs: 1 }));
    while ((await one.getMessages(gone.memoryId)).version !== null);
    await moving.write({ data: JSON.stringify("x".repeat(600)) });
    // As a query may see it that meets the transaction: put at its new place, and not yet removed from the old one.
    const entries = await itemsIn(client, tableName, `newest:owner:${owner}`);
    const [entry] = entries.filter(({ sk }) => sk?.S?.includes(moving.memoryId));
    const sk = { S: `${"1".padStart(16, "0")}${entry?.sk?.S?.slice(16)}` };
    await client.send(new PutItemCommand({ TableName: tableName, Item: { ...entry, sk } }));
    for (const query of [{ limit: 1 }, {}]) {
      expect(await pagedIdsOf(one, { owner, order: newest, ...query })).toEqual([moving.memoryId]);
    }
    await one.deleteMessages(gone.memoryId);
  });

  test("refuse a cursor that no page of theirs gave", async () => {
    for (const place of ["n", "n17", "n0/a", `n${"1".repeat(15)}/a`, `n${"1".repeat(16)}/`, "s0/a"]) {
      const cursor = Buffer.from(place).toString("base64url");
      await expect(one.listMemories({ order: newest, cursor }), place).rejects.toMatchObject({
        code: "INVALID_OPTION",
      });
    }
  });
});

describe("what is listed by activity goes with its memory", () => {
  test("by a sweep, where its head was taken or is another life's", async () => {
    const owner = randomUUID();
    const [taken, again] = [await begun(owner), await begun(owner, undefined, open({ ttlMs: 1 }))];
    await takeHead(client, tableName, taken.memoryId);
    while ((await one.getMessages(again.memoryId)).version !== null);
    await begun(owner, again.memoryId);
    expect(await newestOf(other, { owner })).toEqual([again.memoryId]);
    expect((await entriesOf(owner))[1]).toBe(3);
    expect(await one.sweep()).toEqual({ removed: 2 });
    expect(await entriesOf(owner)).toEqual([1, 1]);
    expect(await newestBeside(client, tableName, taken.memoryId)).toEqual([]);
    expect(await newestBeside(client, tableName, again.memoryId)).toHaveLength(1);
    expect(await newestOf(other, { owner })).toEqual([again.memoryId]);
  });

  test("and stays where a sweep meets a write", async () => {
    const owner = randomUUID();
    const memory = await begun(owner, undefined, open({ activityMs: 1 }));
    let isNoted = false;
    const meeting = wrapped(client, async ({ operation, input }, send) => {
      const isHeads = operation === "BatchGetItem" && JSON.stringify(input).includes(memory.memoryId);
      if (isHeads && !isNoted) await memory.write().then(() => (isNoted = true));
      return send();
    });
    await dynamoStore({ client: meeting, tableName }).sweep();
    expect(isNoted).toBe(true);
    expect(await newestOf(other, { owner })).toEqual([memory.memoryId]);
    expect(await entriesOf(owner)).toEqual([1, 1]);
  });

  test("and stays where a sweep meets its beginning", async () => {
    const owner = randomUUID();
    const { memoryId } = await begun(owner);
    // A batch is not isolated from a transaction: it may miss the head of an entry that the query saw.
    const meeting = wrapped(client, async ({ operation }, send) =>
      operation === "BatchGetItem" ? { Responses: {} } : send(),
    );
    await dynamoStore({ client: meeting, tableName }).sweep();
    expect(await newestOf(other, { owner })).toEqual([memoryId]);
  });

  test("whole or not at all, wherever a process dies that changes the owner and more", async () => {
    for (let step = 1, isDone = false; !isDone; step++) {
      const [guest, user] = [randomUUID(), randomUUID()];
      const memory = await begun(guest);
      const mortal = dynamoStore({ client: dying(client, { step }), tableName });
      const append = [message(2, `"${"x".repeat(40_000)}"`)];
      const data = JSON.stringify({ text: "x".repeat(1_000) });
      const version = (await one.getMessages(memory.memoryId)).version;
      const change = update(version, 3, { owner: user, data, append });
      isDone = await mortal.updateMessages(memory.memoryId, change).then(
        () => true,
        () => false,
      );
      const { owner, data: seen } = await one.getMessages(memory.memoryId);
      expect(seen).toBe(owner === user ? data : undefined);
      for (const of of [guest, user]) {
        const is = of === owner ? 1 : 0;
        for (const order of ["stored", newest] as const)
          expect(await idsOf(other, { owner: of, order })).toHaveLength(is);
        expect(await entriesOf(of)).toEqual([is, is]);
      }
      await one.deleteMessages(memory.memoryId);
      for (const of of [guest, user]) expect(await entriesOf(of)).toEqual([0, 0]);
      expect(await newestBeside(client, tableName, memory.memoryId)).toEqual([]);
    }
  });
});
