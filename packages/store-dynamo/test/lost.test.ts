import { randomUUID } from "node:crypto";
import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { createChatMemory, entry, type MemoryUpdate, type StoredMessage, user } from "@turnkeep/core";
import { unreadableMessage } from "@turnkeep/core/store-kit";
import { message, messages, update } from "@turnkeep/store-tests";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dynamoStore } from "../src/index.ts";
import { type Item, idsStored, inRows, itemsIn, recording, sized, useOwnTable, wrapped } from "./support.ts";

const { tableName, client, open } = useOwnTable();
const [one, other] = [open(), open()];

async function takeAway(memoryId: string, which: (item: Item) => boolean): Promise<void> {
  const items = await itemsIn(client, tableName, `memory:${memoryId}`);
  for (const { pk, sk } of items.filter(which)) {
    await client.send(new DeleteItemCommand({ TableName: tableName, Key: { pk, sk } as Item }));
  }
}

/** Rows that hold a message with that id alone. */
const rowOf =
  (id: string) =>
  ({ rows }: Item): boolean =>
    rows?.S?.includes(`"${id}"`) === true;

/** Four live messages in rows of their own and one in the head; some of the rows are lost. */
async function withLost(...ids: string[]): Promise<{ memoryId: string; version: string }> {
  const memoryId = randomUUID();
  const begin = update(null, 5, { append: inRows(1, 4) });
  await one.updateMessages(memoryId, begin);
  const next = update(begin.version, 6, { append: [message(5)] });
  await one.updateMessages(memoryId, next);
  for (const id of ids) await takeAway(memoryId, rowOf(id));
  return { memoryId, version: next.version };
}

describe("a live message whose record is lost", () => {
  test("is unreadable in its place, with its id, and hides no other", async () => {
    const { memoryId, version } = await withLost("m2", "m4");
    const seen = [
      ...inRows(1, 1),
      unreadableMessage(2, "m2"),
      ...inRows(3, 3),
      unreadableMessage(4, "m4"),
      message(5),
    ];
    expect(await other.getMessages(memoryId)).toMatchObject({ version, messages: seen });
    const live = seen.map((found) => ({ ...found, state: "live" }));
    expect(await other.getHistory(memoryId, {})).toEqual({ messages: live, hasMore: false });
    expect((await other.getHistory(memoryId, { ids: ["m2", "m3"] })).messages).toEqual(live.slice(1, 3));
    expect((await other.getHistory(memoryId, { states: ["evicted"] })).messages).toEqual([]);
    for (const order of ["ascending", "descending"] as const) {
      const pages: StoredMessage[] = [];
      for (let last: number | undefined, isMore = true; isMore; last = pages.at(-1)?.seq) {
        const place = order === "ascending" ? { after: last } : { before: last };
        const page = await other.getHistory(memoryId, { order, limit: 1, ...place });
        pages.push(...page.messages);
        isMore = page.hasMore;
      }
      expect(order === "ascending" ? pages : pages.reverse()).toEqual(live);
    }
  });

  test("goes by its place if the entry of its id is lost too, or another's leads there", async () => {
    const { memoryId, version } = await withLost("m2", "m3");
    await takeAway(memoryId, ({ sk }) => sk?.S?.includes("/i/m2/") === true);
    const items = await itemsIn(client, tableName, `memory:${memoryId}`);
    const life = items.find(({ sk }) => sk?.S === "head")?.life?.S;
    const late = { pk: { S: `memory:${memoryId}` }, sk: { S: `${life}/i/late/${"3".padStart(16, "0")}` } };
    await client.send(new PutItemCommand({ TableName: tableName, Item: late }));
    const [two, three] = [unreadableMessage(2), unreadableMessage(3)];
    expect((await other.getMessages(memoryId)).messages.slice(1, 3)).toEqual([two, three]);
    const { messages: seen } = await other.getHistory(memoryId, { ids: [two.id, "m4"] });
    expect(seen.map(({ id }) => id)).toEqual([two.id, "m4"]);
    await other.updateMessages(memoryId, update(version, 6, { move: [{ seq: 2, to: "removed" }] }));
    expect((await one.getMessages(memoryId)).messages.map(({ seq }) => seq)).toEqual([1, 3, 4, 5]);
  });

  const changed = message(2, '"new"');
  const cases: [string, Partial<MemoryUpdate>, StoredMessage[]][] = [
    ["appended behind", { append: [message(6)] }, [unreadableMessage(2, "m2")]],
    ["replaced", { replace: [changed] }, [changed]],
    ["replaced and evicted", { replace: [changed], move: [{ seq: 2, to: "evicted" }] }, []],
    ["evicted", { move: [{ seq: 2, to: "evicted" }] }, []],
    ["superseded", { move: [{ seq: 2, to: "superseded" }] }, []],
    ["removed", { move: [{ seq: 2, to: "removed" }] }, []],
  ];
  test.each(cases)("can be %s", async (_, change, left) => {
    // The row behind it is there, or is lost, too.
    for (const lost of [["m2"], ["m2", "m3", "m4"]]) {
      const { memoryId, version } = await withLost(...lost);
      const nextSeq = change.append === undefined ? 6 : 7;
      await other.updateMessages(memoryId, update(version, nextSeq, change));
      const rest = [3, 4].flatMap((seq) =>
        lost.length > 1 ? [unreadableMessage(seq, `m${seq}`)] : inRows(seq, seq),
      );
      const live = [...inRows(1, 1), ...left, ...rest, message(5), ...(change.append ?? [])];
      expect((await one.getMessages(memoryId)).messages).toEqual(live);
      // What has left and cannot be read leaves no trace; nothing is left of what was removed.
      const isReadable = change.replace !== undefined || left.length > 0;
      const { messages: said } = await one.getHistory(memoryId, {});
      expect(said.some(({ seq }) => seq === 2)).toBe(isReadable);
      if (change.move?.[0]?.to === "removed") {
        const keys = (await itemsIn(client, tableName, `memory:${memoryId}`)).map(({ sk }) => sk?.S);
        expect(keys.filter((sk) => sk?.includes("/i/m2/"))).toEqual([]);
      }
    }
  });

  test("can be replaced and removed among many, which are rolled forward", async () => {
    const memoryId = randomUUID();
    const begin = update(null, 121, { append: inRows(1, 120) });
    await one.updateMessages(memoryId, begin);
    for (const id of ["m5", "m6", "m119"]) await takeAway(memoryId, rowOf(id));
    const replace = messages(1, 120).filter(({ seq }) => seq !== 6);
    const change = update(begin.version, 121, { replace, move: [{ seq: 6, to: "removed" }] });
    await other.updateMessages(memoryId, change);
    expect((await one.getMessages(memoryId)).messages).toEqual(replace);
  });

  test("is told by a memory with its id, which pages past it, adds, and removes it", async () => {
    const id = randomUUID();
    const memory = () => createChatMemory({ id, store: open() });
    for (const n of [1, 2, 3, 4])
      await memory().add(entry(user(`${n}${"z".repeat(3_000)}`), { id: `m${n}` }));
    await takeAway(id, rowOf("m2"));
    const corrupt = { code: "CORRUPT_RECORD", details: { messageIds: ["m2"] } };
    await expect(memory().messages()).rejects.toMatchObject(corrupt);
    await memory().add(entry(user("next"), { id: "m5" }));
    await memory().remove("m2");
    const { messages: seen } = await memory().history();
    expect(seen.map((found) => found.id)).toEqual(["m1", "m3", "m4", "m5"]);
    expect(await memory().messages()).toHaveLength(4);
  });
});

describe("a row in parts of which one is lost", () => {
  /** Three megabytes of live messages; the oldest share rows of several parts. */
  async function lastPartLost() {
    const memoryId = randomUUID();
    const append = messages(1, 150).map(({ seq }) => sized(seq, 20_000));
    const begin = update(null, 151, { append });
    await one.updateMessages(memoryId, begin);
    const isSecond = ({ sk }: Item): boolean => /\/m\/.*\/000001$/.test(sk?.S ?? "");
    await takeAway(memoryId, isSecond);
    return { memoryId, append, version: begin.version };
  }

  test("hides only what was in that part", async () => {
    const { memoryId, append, version } = await lastPartLost();
    const seen = (await other.getMessages(memoryId)).messages;
    expect(seen.map(({ id }) => id)).toEqual(append.map(({ id }) => id));
    const lost = seen.filter(({ payload }) => payload === "").map(({ seq }) => seq);
    expect(lost.length).toBeGreaterThan(1);
    expect(lost.length).toBeLessThan(21);
    const [first = 0] = lost;
    const change = update(version, 151, {
      replace: [message(first, '"new"')],
      move: lost.slice(1).map((seq) => ({ seq, to: "removed" as const })),
    });
    await other.updateMessages(memoryId, change);
    const left = append.filter(({ seq }) => !lost.slice(1).includes(seq));
    const now = left.map((one) => (one.seq === first ? message(first, '"new"') : one));
    expect((await one.getMessages(memoryId)).messages).toEqual(now);
    expect(await idsStored(client, tableName, memoryId)).toEqual(left.map(({ id }) => id).sort());
  });
});

describe("a line of the head that is damaged", () => {
  async function damaged(recent: string): Promise<{ memoryId: string; version: string }> {
    const memoryId = randomUUID();
    const begin = update(null, 4, { append: messages(1, 3) });
    await one.updateMessages(memoryId, begin);
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: { pk: { S: `memory:${memoryId}` }, sk: { S: "head" } },
        UpdateExpression: "SET recent = :text",
        ExpressionAttributeValues: { ":text": { S: recent } },
      }),
    );
    return { memoryId, version: begin.version };
  }
  const line = (seq: number): string => {
    const { id, createdAt, payload } = message(seq);
    return JSON.stringify([seq, 0, id, createdAt, payload]);
  };

  test.each([
    ['[2,0,"m2","1","1"]', unreadableMessage(2, "m2")],
    ['[2,0,"m2",1,"1",7]', unreadableMessage(2, "m2")],
    ['[2,0,7,1,"1"]', unreadableMessage(2)],
    ["damaged", unreadableMessage(2)],
  ])("is an unreadable message: %s", async (text, unreadable) => {
    const { memoryId, version } = await damaged([line(1), text, line(3)].join("\n"));
    const seen = [message(1), unreadable, message(3)];
    expect((await other.getMessages(memoryId)).messages).toEqual(seen);
    expect((await other.getHistory(memoryId, {})).messages.map(({ id }) => id)).toEqual(
      seen.map(({ id }) => id),
    );
    const append = update(version, 5, { append: [message(4)] });
    await other.updateMessages(memoryId, append);
    const replaced = { ...message(2, '"new"'), id: unreadable.id };
    const replace = update(append.version, 5, { replace: [replaced] });
    await one.updateMessages(memoryId, replace);
    expect((await other.getMessages(memoryId)).messages).toEqual([message(1), replaced, ...messages(3, 4)]);
    const remove = update(replace.version, 5, { move: [{ seq: 2, to: "removed" }] });
    await one.updateMessages(memoryId, remove);
    expect((await other.getMessages(memoryId)).messages).toEqual([message(1), ...messages(3, 4)]);
  });

  test.each(["", "null"])("is one of many, all of which are unreadable: %o", async (text) => {
    const { memoryId, version } = await damaged(text);
    const unreadable = [1, 2, 3].map((seq) => unreadableMessage(seq));
    expect((await other.getMessages(memoryId)).messages).toEqual(unreadable);
    const change = update(version, 5, {
      append: [message(4)],
      replace: [{ ...message(1), id: unreadableMessage(1).id }],
      move: [{ seq: 2, to: "removed" }],
    });
    await other.updateMessages(memoryId, change);
    expect(
      (await one.getMessages(memoryId)).messages.map(({ seq, payload }) => [seq, payload !== ""]),
    ).toEqual([
      [1, true],
      [3, false],
      [4, true],
    ]);
  });
});

test("a memory with a lost record is read however often others append to it meanwhile", async () => {
  const { memoryId, version } = await withLost("m2");
  let last = version;
  let appends = 0;
  let reads = 0;
  const busy = wrapped(client, async ({ operation }, send) => {
    if (operation === "GetItem" && ++reads <= 100) {
      const next = update(last, 7 + appends, { append: [message(6 + appends)] });
      await one.updateMessages(memoryId, next);
      last = next.version;
      appends++;
    }
    return send();
  });
  const { messages: seen } = await dynamoStore({ client: busy, tableName }).getMessages(memoryId);
  expect(reads).toBeLessThan(20);
  expect(seen.map(({ seq }) => seq)).toEqual(messages(1, 5 + appends).map(({ seq }) => seq));
  expect(seen.filter(({ payload }) => payload === "")).toEqual([unreadableMessage(2, "m2")]);
});

test("a message that another replaces whenever it is read is not taken for lost", async () => {
  const { memoryId, version } = await withLost();
  let last = version;
  let edits = 0;
  const racing = wrapped(client, async ({ operation }, send) => {
    const answer = await send();
    if (operation !== "GetItem" || edits === 10) return answer;
    const [, row] = inRows(1, 2);
    const next = update(last, 6, { replace: [{ ...row, payload: `"${++edits}"` } as StoredMessage] });
    await one.updateMessages(memoryId, next);
    last = next.version;
    return answer;
  });
  const read = await dynamoStore({ client: racing, tableName }).getMessages(memoryId);
  expect(edits).toBe(10);
  expect(read.messages.map(({ payload }) => payload)[1]).toBe('"10"');
});

test("close() waits for a read that is between two of its tries", async () => {
  const { memoryId } = await withLost("m2");
  const store = open();
  const ended: string[] = [];
  const reading = store.getMessages(memoryId).then(() => ended.push("read"));
  await Promise.all([reading, store.close().then(() => ended.push("closed"))]);
  expect(ended).toEqual(["read", "closed"]);
});

test("an append to a memory with a lost record, and a read of it by who knows the version, cost as ever", async () => {
  const { memoryId, version } = await withLost("m2");
  const recorder = recording(client);
  const store = dynamoStore({ client: recorder.client, tableName });
  await store.getMessages(memoryId);
  recorder.sent.length = 0;
  const next = update(version, 7, { append: [message(6)] });
  await store.updateMessages(memoryId, next);
  await store.getMessages(memoryId, { known: next.version });
  expect(recorder.sent.map(({ operation }) => operation)).toEqual(["PutItem", "GetItem"]);
});

test("whatever items are taken away, what is left is read, and every message can be changed", async () => {
  const sizes = fc.array(fc.constantFrom(20, 700, 3_000, 20_000, 500_000), { minLength: 1, maxLength: 14 });
  const changes = fc.array(fc.constantFrom("stays", "replaced", "removed", "evicted"), {
    minLength: 14,
    maxLength: 14,
  });
  const run = async (first: number[], second: number[], taken: number[], what: string[]): Promise<void> => {
    const memoryId = randomUUID();
    const all = [...first, ...second].map((bytes, index) => sized(index + 1, bytes));
    const begin = update(null, first.length + 1, { append: all.slice(0, first.length) });
    await one.updateMessages(memoryId, begin);
    const next = update(begin.version, all.length + 1, { append: all.slice(first.length) });
    await one.updateMessages(memoryId, next);
    const items = (await itemsIn(client, tableName, `memory:${memoryId}`)).filter(
      ({ sk }) => sk?.S !== "head",
    );
    const gone = new Set(taken.map((index) => items[index % Math.max(items.length, 1)]?.sk?.S));
    await takeAway(memoryId, ({ sk }) => gone.has(sk?.S));

    const seen = (await other.getMessages(memoryId)).messages;
    expect(seen.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq));
    for (const [index, found] of seen.entries()) if (found.payload !== "") expect(found).toEqual(all[index]);
    const changeOf = (seq: number): string => what[seq % what.length] ?? "";
    const change = update(next.version, all.length + 1, {
      replace: seen
        .filter(({ seq }) => changeOf(seq) === "replaced")
        .map(({ seq, id }) => ({ ...message(seq, '"new"'), id })),
      move: seen.flatMap(({ seq }) => {
        const to = changeOf(seq);
        return to === "removed" || to === "evicted" ? [{ seq, to } as const] : [];
      }),
    });
    await other.updateMessages(memoryId, change);
    const after = seen.flatMap((found) => {
      const replaced = change.replace.find(({ seq }) => seq === found.seq);
      const left = change.move.some(({ seq }) => seq === found.seq);
      return left ? [] : [replaced ?? found];
    });
    expect((await one.getMessages(memoryId)).messages).toEqual(after);
    const said = (await one.getHistory(memoryId, { limit: 1_000 })).messages.map(({ seq }) => seq);
    expect(said.filter((seq) => changeOf(seq) === "removed")).toEqual([]);
    await one.deleteMessages(memoryId);
    expect(await itemsIn(client, tableName, `memory:${memoryId}`)).toEqual([]);
  };
  const taken = fc.array(fc.nat(1_000), { maxLength: 4 });
  await fc.assert(fc.asyncProperty(sizes, sizes, taken, changes, run), {
    numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 4),
  });
}, 300_000);
