import { randomUUID } from "node:crypto";
import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import type { MemoryUpdate } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import { afterEach, describe, expect, test, vi } from "vitest";
import { dynamoStore } from "../src/index.ts";
import { type Begun, begunBy, inRows, interrupted, itemsIn, useOwnTable } from "./support.ts";

const { tableName, client, open } = useOwnTable();
const [one, other] = [open(), open()];

afterEach(() => void vi.useRealTimers());

/** JSON text of so many bytes. */
function text(bytes: number, letter = "x"): string {
  return JSON.stringify(letter.repeat(bytes - 2));
}

function begun(change: Partial<MemoryUpdate> = {}, store = one): Promise<Begun> {
  return begunBy(store, update(null, 4, { append: messages(1, 3), ...change }));
}

async function itemOf(memoryId: string): Promise<string | undefined> {
  const items = await itemsIn(client, tableName, `memory:${memoryId}`);
  return items.find(({ sk }) => sk?.S?.endsWith("/d"))?.data?.S;
}

describe("data", () => {
  test.each([
    ["in the head", {}],
    ["in rows", { append: inRows(1, 3) }],
  ])("stand in the head up to 512 bytes, then beside it, with messages %s", async (_, change) => {
    const owner = randomUUID();
    const { memoryId, write } = await begun({ ...change, owner, data: text(512) });
    for (const data of [text(512), text(513), text(8_192, "y"), text(2), text(600), ""]) {
      const known = await write({ data });
      const isInHead = data.length <= 512;
      expect(await itemOf(memoryId)).toBe(isInHead ? undefined : data);
      for (const store of [one, other]) {
        expect(await store.getMessages(memoryId)).toMatchObject({ data, messages: { length: 3 } });
        expect(await store.getMessages(memoryId, { known })).toMatchObject({ data, unchanged: true });
        expect((await store.listMemories({ owner })).memories).toMatchObject([{ data }]);
      }
      await write({ head: data.slice(0, 9) });
      expect(await other.getMessages(memoryId)).toMatchObject({ data });
    }
    await write({ data: text(513) });
    await one.deleteMessages(memoryId);
    expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toEqual([]);
  });

  test("come with an update of any size at once", async () => {
    const append = messages(1, 120).map(({ seq }) => message(seq, text(2_000)));
    const data = [text(700, "a"), text(700, "b")] as const;
    const { memoryId, write } = await begun({ nextSeq: 121, append, data: data[0] });
    await write({ replace: append.map(({ seq }) => message(seq, text(2_100))), data: data[1] });
    expect(await other.getMessages(memoryId)).toMatchObject({ data: data[1], messages: { length: 120 } });
  });

  test("are of the version that a read answers, whatever it meets", async () => {
    for (const messagesOf of [{}, { append: inRows(1, 3) }]) {
      const { memoryId, write } = await begun({ ...messagesOf, data: text(600, "a") });
      for (const [before, after] of [
        [text(600, "a"), text(600, "b")],
        [text(600, "c"), text(5)],
      ] as const) {
        const known = await write({ data: before });
        for (const options of [{}, { known }]) {
          const meeting = interrupted(client, "GetItem", () => write({ data: after }));
          const reader = dynamoStore({ client: meeting, tableName });
          const { version, data } = await reader.getMessages(memoryId, options);
          expect([version === known, data]).toEqual([false, after]);
          await write({ data: before });
        }
      }
    }
  });

  test("are in a list that meets them on their way into the head", async () => {
    const owner = randomUUID();
    const { write } = await begun({ owner, data: text(600) });
    const meeting = interrupted(client, "BatchGetItem", () => write({ data: text(5) }));
    const listed = await dynamoStore({ client: meeting, tableName }).listMemories({ owner });
    expect(listed.memories).toMatchObject([{ data: text(5) }]);
  });

  test("that were lost hide nothing else, and others can be given", async () => {
    const owner = randomUUID();
    const { memoryId, write } = await begun({ owner, data: text(600) });
    const items = await itemsIn(client, tableName, `memory:${memoryId}`);
    const sk = items.find((item) => item.sk?.S?.endsWith("/d"))?.sk?.S ?? "";
    const Key = { pk: { S: `memory:${memoryId}` }, sk: { S: sk } };
    await client.send(new DeleteItemCommand({ TableName: tableName, Key }));
    const found = await other.getMessages(memoryId);
    expect(found.messages).toEqual(messages(1, 3));
    expect(found).not.toHaveProperty("data");
    expect((await other.listMemories({ owner })).memories).toMatchObject([{ memoryId }]);
    await write({ data: text(601) });
    expect(await other.getMessages(memoryId)).toMatchObject({ data: text(601) });
  });
});

describe("a time to live of an update", () => {
  const day = 24 * 60 * 60 * 1000;

  /** When the memory ends, and the table's own expiry takes its head, from now on. */
  async function endOf(memoryId: string): Promise<[number | undefined, number | undefined]> {
    const head = (await itemsIn(client, tableName, `memory:${memoryId}`)).find(({ sk }) => sk?.S === "head");
    const from = (value: string | undefined, unit: number) =>
      value === undefined ? undefined : Math.floor((Number(value) * unit - Date.now()) / 1000) * 1000;
    return [from(head?.endsAt?.N, 1), from(head?.ttl?.N, 1000)];
  }

  test.each([
    ["none", undefined],
    ["one of a day", day],
  ])("comes before that of a store that has %s, which the next write takes again", async (_, ttlMs) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Math.ceil(Date.now() / 1000) * 1000 });
    const store = open(ttlMs === undefined ? {} : { ttlMs });
    const owner = randomUUID();
    const { memoryId, write } = await begun({ owner, ttlMs: 1_000 }, store);
    for (const [own, ends] of [
      [undefined, ttlMs],
      [1_000, 1_000],
      [undefined, ttlMs],
      [30 * day, 30 * day],
      [null, undefined],
      [undefined, ttlMs],
      [null, undefined],
      [5_000, 5_000],
    ] as const) {
      await write(own === undefined ? { head: "1" } : { ttlMs: own });
      expect(await endOf(memoryId)).toEqual([ends, ends]);
    }
    vi.setSystemTime(Date.now() + 4_999);
    expect((await other.getMessages(memoryId)).version).not.toBeNull();
    vi.setSystemTime(Date.now() + 1);
    expect((await other.getMessages(memoryId)).version).toBeNull();
    expect((await other.listMemories({ owner })).memories).toEqual([]);
    expect(await other.sweep()).toEqual({ removed: 1 });
    expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toEqual([]);
  });
});
