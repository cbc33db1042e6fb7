import { createHash } from "node:crypto";
import type { MemoryUpdate } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import { describe, expect, test, vi } from "vitest";
import { type DynamoStore, dynamoStore } from "../src/index.ts";
import {
  dying,
  itemsBeside,
  itemsIn,
  later,
  newestBeside,
  recording,
  sized,
  useOwnTable,
} from "./support.ts";

const { tableName, client } = useOwnTable();
const recorder = recording(client);
const store = dynamoStore({ client: recorder.client, tableName });

/**
 * What a call sends, with the number of a transaction's actions, and what it consumes. DynamoDB Local rounds a
 * transaction's units once, where DynamoDB rounds each item up to a whole KB.
 */
async function cost(call: () => Promise<unknown>): Promise<string> {
  recorder.sent.length = 0;
  recorder.units();
  await call();
  const { read, write } = recorder.units();
  const names = recorder.sent.map(({ operation, input: { TransactItems } }) =>
    TransactItems === undefined ? operation : `Transact(${(TransactItems as unknown[]).length})`,
  );
  return `${names.join(" ")}: ${read} read, ${write} write`;
}

test("what is read of a message of many pages is gone through once", async () => {
  const bytes = 16 * 1024 * 1024;
  const large = sized(1, bytes - 100);
  const begin = update(null, 2, { append: [large] });
  await store.updateMessages("of many pages", begin);
  let split = 0;
  const { split: real } = String.prototype;
  const spy = vi.spyOn(String.prototype, "split").mockImplementation(function (this: string, ...given) {
    if (String(given[0]) === "\n") split += this.length;
    return Reflect.apply(real, this, given);
  });
  try {
    expect((await store.getMessages("of many pages")).messages).toEqual([large]);
  } finally {
    spy.mockRestore();
  }
  expect(split).toBeGreaterThan(bytes - 200);
  expect(split).toBeLessThan(3 * bytes);
});

describe("operations and units, as the README's table says", () => {
  test("of small messages", async () => {
    const begin = update(null, 2, { owner: "o", head: '{"a":1}', append: [sized(1, 500)] });
    expect(await cost(() => store.updateMessages("small", begin))).toBe("Transact(5): 0 read, 2 write");
    const append = update(begin.version, 3, { head: '{"a":2}', append: [sized(2, 500)] });
    expect(await cost(() => store.updateMessages("small", append))).toBe("PutItem: 0 read, 2 write");
    expect(await cost(() => store.getMessages("small"))).toBe("GetItem: 1 read, 0 write");
    const evict = update(append.version, 4, {
      append: [sized(3, 500)],
      move: [{ seq: 1, to: "evicted" }],
    });
    expect(await cost(() => store.updateMessages("small", evict))).toBe("PutItem: 0 read, 2 write");
    const only = update(evict.version, 4, { move: [{ seq: 2, to: "evicted" }] });
    expect(await cost(() => store.updateMessages("small", only))).toBe("PutItem: 0 read, 2 write");
    const replace = update(only.version, 4, { replace: [sized(3, 600)] });
    expect(await cost(() => store.updateMessages("small", replace))).toBe("PutItem: 0 read, 2 write");
    expect(await cost(() => store.getHistory("small", { ids: ["m3"] }))).toBe("GetItem: 1 read, 0 write");
    const supersede = update(replace.version, 4, { move: [{ seq: 3, to: "superseded" }] });
    expect(await cost(() => store.updateMessages("small", supersede))).toBe("Transact(2): 0 read, 6 write");
    expect(await cost(() => store.getMessages("small"))).toBe("GetItem: 1 read, 0 write");
    expect(await cost(() => store.getHistory("small", {}))).toBe("GetItem Query: 2 read, 0 write");
    const remove = update(supersede.version, 4, { move: [{ seq: 3, to: "removed" }] });
    expect(await cost(() => store.updateMessages("small", remove))).toBe("PutItem: 0 read, 2 write");
    expect(await cost(() => store.updateMessages("small", remove))).toBe("GetItem: 1 read, 0 write");
    expect(await cost(() => store.listMemories({ owner: "o" }))).toBe("Query BatchGetItem: 2 read, 0 write");
    expect(await cost(() => store.listMemories({}))).toMatch(
      /^(Query |BatchGetItem )*\w+: \d+(\.5)? read, 0 write$/,
    );
    expect(await cost(() => store.deleteMessages("small"))).toMatch(/: \d+(\.\d)? read, \d+ write$/);
  });

  test("of what is said about a memory, and of the order of its listings", async () => {
    const begin = update(null, 2, { owner: "guest", append: [sized(1, 500)] });
    await store.updateMessages("about", begin);
    let { version } = begin;
    async function next(change: Partial<MemoryUpdate>): Promise<string> {
      const sent = update(version, 2, change);
      version = sent.version;
      return cost(() => store.updateMessages("about", sent));
    }
    const title = JSON.stringify({ title: "x".repeat(100) });
    const long = JSON.stringify({ text: "x".repeat(8_000) });
    expect(await next({ data: title })).toBe("PutItem: 0 read, 1 write");
    expect(await cost(() => store.getMessages("about"))).toBe("GetItem: 1 read, 0 write");
    expect(await next({ data: long })).toBe("Transact(2): 0 read, 18 write");
    expect(await next({ head: "1" })).toBe("PutItem: 0 read, 1 write");
    expect(await cost(() => store.getMessages("about"))).toBe("GetItem GetItem: 3 read, 0 write");
    const mine = { owner: "guest", order: "newest" } as const;
    expect(await cost(() => store.listMemories(mine))).toBe(
      "Query BatchGetItem BatchGetItem: 4 read, 0 write",
    );
    expect(await next({ data: title })).toBe("Transact(2): 0 read, 18 write");
    expect(await cost(() => store.listMemories(mine))).toBe("Query BatchGetItem: 2 read, 0 write");
    expect(await cost(() => store.listMemories({ order: "newest" }))).toMatch(
      /^(Query ){8}BatchGetItem: \d+(\.5)? read, 0 write$/,
    );
    expect(await next({ owner: "ann" })).toBe("Transact(8): 0 read, 2 write");
    // Not noted again within a minute, then once.
    expect(await next({ head: "2" })).toBe("PutItem: 0 read, 1 write");
    expect(await later(() => next({ head: "3" }), 2)).toBe("Transact(5): 0 read, 2 write");
  });

  test("of small messages that no longer fit into the head", async () => {
    let { version } = update(null, 2);
    await store.updateMessages("rows", { ...update(null, 2, { append: [sized(1, 500)] }), version });
    const costs: string[] = [];
    async function next(change: Partial<MemoryUpdate>, nextSeq: number): Promise<string> {
      const sent = update(version, nextSeq, change);
      version = sent.version;
      return cost(() => store.updateMessages("rows", sent));
    }
    for (let seq = 2; seq <= 12; seq++) costs.push(await next({ append: [sized(seq, 500)] }, seq + 1));
    const cycle = [2, 2, 3, 3].map((units) => `PutItem: 0 read, ${units} write`);
    const movesOut = "BatchWriteItem Transact(2): 0 read, 20 write";
    expect(costs).toEqual([...cycle, movesOut, "PutItem: 0 read, 1 write", ...cycle, movesOut]);
    expect(await cost(() => store.getMessages("rows"))).toBe("GetItem Query: 3 read, 0 write");
    expect(await next({ replace: [sized(3, 600)] }, 13)).toBe("Query Transact(2): 1 read, 10 write");
    expect(await next({ move: [{ seq: 3, to: "superseded" }] }, 13)).toBe("Transact(2): 0 read, 2 write");
    expect(await next({ move: [{ seq: 3, to: "removed" }] }, 13)).toBe(
      "Query Transact(2) BatchWriteItem: 1 read, 11 write",
    );
    expect(await cost(() => store.getHistory("rows", { limit: 2 }))).toBe("GetItem Query: 3 read, 0 write");
    expect(await cost(() => store.getHistory("rows", { limit: 2, order: "descending" }))).toBe(
      "GetItem Query: 3 read, 0 write",
    );
    expect(await cost(() => store.getHistory("rows", { ids: ["m4"] }))).toBe(
      "GetItem Query Query: 3 read, 0 write",
    );
    // What lies outside of the range that is asked for is not read.
    expect(await cost(() => store.getHistory("rows", { ids: ["m4"], after: 4 }))).toBe(
      "GetItem Query: 2 read, 0 write",
    );
    expect(await cost(() => store.getHistory("rows", { ids: ["m12"] }))).toBe(
      "GetItem Query Query: 3 read, 0 write",
    );
    // A page that the head fills asks for no row.
    await next({ append: [13, 14, 15].map((seq) => sized(seq, 100)) }, 16);
    const newest = { limit: 2, order: "descending" } as const;
    expect(await cost(() => store.getHistory("rows", newest))).toBe("GetItem: 1 read, 0 write");
    expect(await store.getHistory("rows", newest)).toMatchObject({
      messages: [{ seq: 15 }, { seq: 14 }],
      hasMore: true,
    });
    // A correction of what has left looks at the marks of what is superseded, too.
    await next({ move: [{ seq: 5, to: "evicted" }] }, 16);
    expect(await next({ replace: [{ ...sized(5, 600), state: "evicted" }] }, 16)).toBe(
      "Query Query Transact(2): 2 read, 8 write",
    );
  });

  test("a read by who knows the version asks for the head alone", async () => {
    const begin = update(null, 51, { append: messages(1, 50).map(({ seq }) => sized(seq, 2_000)) });
    await store.updateMessages("known", begin);
    const known = { known: begin.version };
    expect(await cost(() => store.getMessages("known"))).toBe("GetItem Query: 26 read, 0 write");
    expect(await cost(() => store.getMessages("known", known))).toBe("GetItem: 1 read, 0 write");
    expect(await store.getMessages("known", known)).toMatchObject({ messages: [], unchanged: true });
  });

  test("messages that stand apart are read together where they are near, and no others are answered", async () => {
    const all = messages(1, 400).map(({ seq }) => sized(seq, 200));
    const apart = (seq: number): boolean => seq % 2 === 1 || seq === 400;
    const begin = update(null, 401, {
      append: all,
      move: all.filter(({ seq }) => !apart(seq)).map(({ seq }) => ({ seq, to: "evicted" })),
    });
    await store.updateMessages("apart", begin);
    expect(await cost(() => store.getMessages("apart"))).toBe("GetItem Query: 24 read, 0 write");
    const { messages: shown } = await store.getMessages("apart");
    expect(shown).toEqual(all.filter(({ seq }) => apart(seq)));
    // Far from one another, each is asked for by itself.
    const few = [1, 100, 200, 300, 399].map((seq) => `m${seq}`);
    const page = await store.getHistory("apart", { ids: few });
    expect(page.messages.map(({ id }) => id)).toEqual(few);
  });

  test("of few messages that stand apart each is asked for by itself, however near", async () => {
    const append = [sized(1, 100), ...messages(2, 5).map(({ seq }) => sized(seq, 30_000)), sized(6, 5_000)];
    const move = messages(2, 5).map(({ seq }) => ({ seq, to: "evicted" as const }));
    await store.updateMessages("few", update(null, 7, { append, move }));
    expect(await cost(() => store.getMessages("few"))).toBe("GetItem Query Query: 4 read, 0 write");
  });

  test("messages before a row in parts, of which the page has not all, are read once", async () => {
    const append = [...messages(1, 2), sized(3, 40_000), sized(4, 4_000)];
    const move = messages(1, 3).map(({ seq }) => ({ seq, to: "evicted" as const }));
    await store.updateMessages("before", update(null, 5, { append, move }));
    // The head, the entries of two ids, the rows, and the marks of what is superseded.
    expect(await cost(() => store.getHistory("before", { ids: ["m1", "m2"] }))).toMatch(
      /^GetItem Query Query Query Query:/,
    );
  });

  test("an update of many rows that stand apart checks none of those between", async () => {
    const append = messages(1, 30).map(({ seq }) => sized(seq, 3_000));
    const begin = update(null, 31, { append });
    await store.updateMessages("between", begin);
    const replace = append.filter(({ seq }) => seq % 3 === 1).map(({ seq }) => sized(seq, 100));
    const change = update(begin.version, 31, { replace });
    expect(await cost(() => store.updateMessages("between", change))).toBe(
      "Query Transact(10): 23 read, 94 write",
    );
  });

  test("history in parts, over the end of a page, is read once, whatever an interrupted update left", async () => {
    const move = [{ seq: 1, to: "evicted" as const }];
    const begin = update(null, 2, { append: [sized(1, 2 * 1024 * 1024)], move });
    await store.updateMessages("parts", begin);
    const mortal = dynamoStore({ client: dying(client, { step: 3 }), tableName });
    const dies = update(begin.version, 6, { append: [sized(5, 40_000)] });
    await expect(mortal.updateMessages("parts", dies)).rejects.toThrow();
    const append = [message(3), sized(8, 4_000)];
    await store.updateMessages("parts", update(begin.version, 9, { append }));
    // The head, two pages of rows, and the marks of what is superseded.
    expect(await cost(() => store.getHistory("parts", {}))).toMatch(/^GetItem Query Query Query:/);
  });

  test("a change of state moves no payload", async () => {
    const begin = update(null, 2, { append: [sized(1, 300_000)] });
    expect(await cost(() => store.updateMessages("moves", begin))).toBe(
      "PutItem BatchWriteItem Transact(4): 0 read, 298 write",
    );
    const evict = update(begin.version, 2, { move: [{ seq: 1, to: "evicted" }] });
    expect(await cost(() => store.updateMessages("moves", evict))).toBe("PutItem: 0 read, 1 write");
  });

  test("a message of 1 MB is not written at the double price of a transaction", async () => {
    const begin = update(null, 2, { append: [sized(1, 1024 * 1024)] });
    expect(await cost(() => store.updateMessages("large", begin))).toBe(
      "PutItem BatchWriteItem Transact(4): 0 read, 1031 write",
    );
    expect(await cost(() => store.getMessages("large"))).toBe("GetItem Query: 258 read, 0 write");
    // Nothing is staged: its parts go once the update is in place.
    const shorten = update(begin.version, 2, { replace: [sized(1, 100)] });
    expect(await cost(() => store.updateMessages("large", shorten))).toBe(
      "Query Transact(3) Query BatchWriteItem DeleteItem: 514 read, 1030 write",
    );
  });
});

test("a page that its megabyte cut short says how many items the next may have", async () => {
  const limits = async (memoryId: string, bytes: number, count: number): Promise<unknown[]> => {
    const append = messages(1, count).map(({ seq }) => sized(seq, bytes));
    await store.updateMessages(memoryId, update(null, count + 1, { append }));
    recorder.sent.length = 0;
    await store.deleteMessages(memoryId);
    const queries = recorder.sent.filter(({ input }) => input.ProjectionExpression === "#p, #s");
    return queries.map(({ input }) => input.Limit);
  };
  // Each page that follows is cut short too, as many as there were.
  const ofParts = await limits("cut short", 1024 * 1024, 3);
  expect(ofParts.slice(0, 2)).toEqual([undefined, expect.any(Number)]);
  expect(ofParts.length).toBeLessThanOrEqual(5);
  expect(await limits("in one page", 3_000, 4)).toEqual([undefined]);
});

test("neither an append nor a read carries more when the history has grown", async () => {
  let version: string | null = null;
  const costs: string[] = [];
  for (let from = 1; from <= 3_001; from += 1_000) {
    const all = messages(from, from + 999);
    const change = update(version, from + 1_000, {
      append: all,
      move: all.flatMap(({ seq }) => (seq === 1 ? [] : [{ seq, to: "evicted" as const }])),
    });
    await store.updateMessages("long", change);
    const next = update(change.version, from + 1_000, { head: `${from}` });
    await store.updateMessages("long", next);
    version = next.version;
    costs.push(await cost(() => store.getMessages("long")));
  }
  expect(new Set(costs)).toEqual(new Set(["GetItem Query: 2 read, 0 write"]));
  const append = update(version, 4_002, { append: [message(4_001)] });
  expect(await cost(() => store.updateMessages("long", append))).toBe("PutItem: 0 read, 1 write");
  expect((await store.getMessages("long")).messages).toEqual([message(1), message(4_001)]);
  // The system message far from the newest: by its key, and nothing of what lies between.
  expect(await cost(() => store.getMessages("long"))).toBe("GetItem Query: 2 read, 0 write");
  // So does a page of history that asks for nothing else.
  expect(await cost(() => store.getHistory("long", { states: ["live"] }))).toBe(
    "GetItem Query: 2 read, 0 write",
  );
  expect(await cost(() => store.getHistory("long", { ids: ["m2000"] }))).toMatch(
    /: [45](\.5)? read, 0 write$/,
  );
  const newest = { order: "descending", limit: 2 } as const;
  expect(await cost(() => store.getHistory("long", newest))).toBe("GetItem Query Query: 4 read, 0 write");
  const page = await store.getHistory("long", newest);
  expect(page.messages.map(({ seq }) => seq)).toEqual([4_001, 4_000]);
  expect((await store.getHistory("long", { after: 3_999, limit: 1 })).messages).toHaveLength(1);
});

test("an append and a read cost the same at 20 messages said and at 1,500", async () => {
  // Begun here, so that all numbers have as many digits.
  let next = 1_001;
  let version: string | null = null;
  /** So many messages more, of which the newest 10 stay. */
  async function say(count: number): Promise<void> {
    const append = messages(next, next + count - 1).map(({ seq }) => sized(seq, 500));
    const move = messages(Math.max(1_001, next - 10), next + count - 11).map(({ seq }) => {
      return { seq, to: "evicted" as const };
    });
    const change = update(version, next + count, { append, move });
    await store.updateMessages("same", change);
    version = change.version;
    next += count;
  }
  /** Of an append and a read of ten messages: operations, units, and how much was asked for. */
  async function costs(): Promise<[string, number][]> {
    const append = await cost(() => say(1));
    const sent = JSON.stringify(recorder.sent).length;
    const read = await cost(() => store.getMessages("same"));
    return [
      [append, sent],
      [read, JSON.stringify(recorder.sent).length],
    ];
  }
  await say(10);
  for (let times = 0; times < 10; times++) await say(1);
  const young = await costs();
  expect(young.map(([of]) => of)).toEqual(["PutItem: 0 read, 3 write", "GetItem Query: 2 read, 0 write"]);
  while (next < 2_500) await say(50);
  for (let times = 0; times < 10; times++) await say(1);
  expect(await costs()).toEqual(young);
});

describe("messages by their ids", () => {
  const named = (seqs: readonly number[], id: (seq: number) => string): MemoryUpdate => {
    const append = seqs.map((seq) => ({ ...sized(seq, 500), id: id(seq) }));
    const move = append.map(({ seq }) => ({ seq, to: "evicted" as const }));
    return update(null, seqs.length + 1, { append, move });
  };
  const seqs = Array.from({ length: 1_000 }, (_, index) => index + 1);
  /** In no order. */
  const scattered = (seq: number): string => createHash("sha256").update(`${seq}`).digest("hex");

  const queries = (count: number, read: number): string =>
    `GetItem${" Query".repeat(count)}: ${read} read, 0 write`;
  test.each<[string, (seq: number) => string, string[]]>([
    ["in order", (seq) => `imported/${String(seq).padStart(6, "0")}`, [queries(18, 159), queries(16, 25)]],
    ["in no order", scattered, [queries(18, 187), queries(16, 41)]],
  ])("1,000 of them are looked up together, if they are there or not: %s", async (of, id, costs) => {
    const memoryId = `imported ${of}`;
    await store.updateMessages(memoryId, named(seqs, id));
    const page = await store.getHistory(memoryId, { ids: seqs.map(id), limit: 1_000 });
    expect(page.messages.map(({ seq }) => seq)).toEqual(seqs);
    const there = await cost(() => store.getHistory(memoryId, { ids: seqs.map(id), limit: 1_000 }));
    const others = seqs.map((seq) => `${id(seq)} of others`);
    const notThere = await cost(() => store.getHistory(memoryId, { ids: others, limit: 1_000 }));
    expect([there, notThere]).toEqual(costs);
  });

  test("far from each other in a long history cost a query each, and no more than a unit", async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => index + 1);
    await store.updateMessages("far ids", named(many, scattered));
    recorder.sent.length = 0;
    recorder.units();
    const others = many.slice(0, 8).map((seq) => `${scattered(seq)} of others`);
    await store.getHistory("far ids", { ids: others });
    expect(recorder.sent).toHaveLength(9);
    expect(recorder.units().read).toBeLessThanOrEqual(9);
  });

  test("are found whatever their order as text and as keys, and where one begins like the key of another", async () => {
    const ids = [
      "a",
      "a/",
      `a/${"1".padStart(16, "0")}`,
      "a~",
      "a!",
      "A",
      "\u{1f600}",
      "\u{ffee}",
      "é",
      "e\u0301",
    ];
    const found = ids.map((id, index) => ({ ...sized(index + 1, 500), id }));
    await store.updateMessages("odd ids", update(null, ids.length + 1, { append: found }));
    for (const asked of [ids, ids.slice(3), ...ids.map((id) => [id])]) {
      const page = await store.getHistory("odd ids", { ids: [...asked].reverse() });
      expect(page.messages.map(({ id }) => id)).toEqual(asked);
    }
  });
});

test("a page of a list reads no more memories than it asks for, and one", async () => {
  for (let n = 0; n < 6; n++) await store.updateMessages(`listed ${n}`, update(null, 1, { owner: "many" }));
  const query = { owner: "many", limit: 2 };
  expect(await cost(() => store.listMemories(query))).toBe("Query BatchGetItem: 4 read, 0 write");
});

test("an update by a store that has not read asks for the head first", async () => {
  const begin = update(null, 2, { append: [message(1)] });
  await store.updateMessages("other", begin);
  const fresh = dynamoStore({ client: recorder.client, tableName });
  const append = update(begin.version, 3, { append: [message(2)] });
  expect(await cost(() => fresh.updateMessages("other", append))).toBe("GetItem PutItem: 1 read, 1 write");
  const more = update(append.version, 4, { append: [message(3)] });
  expect(await cost(() => fresh.updateMessages("other", more))).toBe("PutItem: 0 read, 1 write");
});

test("an update that another was faster than is sent once, asks for the head, and leaves nothing", async () => {
  const begin = update(null, 3, { append: [sized(1, 40_000), message(2)] });
  await store.updateMessages("refused", begin);
  const other = dynamoStore({ client: recorder.client, tableName });
  await other.getMessages("refused");
  await dynamoStore({ client, tableName }).updateMessages("refused", update(begin.version, 3, { head: "1" }));
  const attempts: [DynamoStore, Partial<MemoryUpdate>, string][] = [
    [store, { replace: [sized(1, 100)] }, "Query Transact(3) GetItem: 11 read, 0 write"],
    [other, { head: "2" }, "PutItem GetItem: 1 read, 0 write"],
  ];
  for (const [behind, change, costs] of attempts) {
    const next = update(begin.version, 3, change);
    const call = (): Promise<unknown> =>
      expect(behind.updateMessages("refused", next)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(await cost(call)).toBe(costs);
  }
  expect(await itemsBeside(client, tableName, "refused")).toHaveLength(1);
});

test("an update behind which live messages are too scattered is refused before anything is sent", async () => {
  const append = Array.from({ length: 21_500 }, (_, index) => message(9e15 + 2 * index));
  const begin = update(null, 9e15 + 43_000, { append });
  recorder.sent.length = 0;
  await expect(store.updateMessages("scattered", begin)).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringContaining("too scattered"),
  });
  expect(recorder.sent.map(({ operation }) => operation)).toEqual(["GetItem"]);
});

test("a store remembers the heads of the last 1,000 memories, and no more", async () => {
  const asked: string[] = [];
  const accepts = {
    async send(command: object): Promise<object> {
      asked.push(command.constructor.name);
      return {};
    },
  };
  const many = dynamoStore({ client: accepts, tableName });
  const begins = Array.from({ length: 1_001 }, () => update(null, 1));
  for (const [index, begin] of begins.entries()) await many.updateMessages(`${index}`, begin);
  asked.length = 0;
  await many.updateMessages("1", update(begins[1]?.version ?? "", 1, { head: "2" }));
  expect(asked).toEqual(["PutItemCommand"]);
  const call = many.updateMessages("0", update(begins[0]?.version ?? "", 1, { head: "2" }));
  await expect(call).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  expect(asked).toEqual(["PutItemCommand", "GetItemCommand"]);
  // What was written last is not the first to be forgotten.
  const again = update(null, 1);
  await many.updateMessages("1", again);
  await many.updateMessages("another", update(null, 1));
  asked.length = 0;
  await many.updateMessages("1", update(again.version, 1, { head: "3" }));
  expect(asked).toEqual(["PutItemCommand"]);
});

test("sequence numbers keep their last digit", async () => {
  const last = Number.MAX_SAFE_INTEGER - 1;
  const append = [last - 2, last - 1].map((seq) => ({ ...message(seq), createdAt: 0 }));
  const begin = update(null, last, { append });
  await store.updateMessages("far", begin);
  const to = "superseded" as const;
  await store.updateMessages("far", update(begin.version, last, { move: [{ seq: last - 2, to }] }));
  expect(await store.getMessages("far")).toMatchObject({ nextSeq: last, messages: [append[1]] });
  expect((await store.getHistory("far", { before: last - 1 })).messages).toEqual([
    { ...append[0], state: to },
  ]);
});

test("marks come and go in one update", async () => {
  const begin = update(null, 5, {
    append: messages(1, 4),
    move: [
      { seq: 1, to: "superseded" },
      { seq: 2, to: "superseded" },
    ],
  });
  await store.updateMessages("marks", begin);
  const mixed = update(begin.version, 5, {
    move: [
      { seq: 1, to: "evicted" },
      { seq: 3, to: "superseded" },
    ],
  });
  await store.updateMessages("marks", mixed);
  expect((await store.getHistory("marks", {})).messages.map(({ state }) => state)).toEqual([
    ...["evicted", "superseded", "superseded", "live"],
  ]);
});

test("marks of several thousands are each its own", async () => {
  const append = [1, 2, 1_001].map((seq) => message(seq));
  const move = append.map(({ seq }) => ({ seq, to: "superseded" as const }));
  const begin = update(null, 1_002, { append, move });
  await store.updateMessages("thousands", begin);
  const back = update(begin.version, 1_002, { move: [{ seq: 1, to: "evicted" }] });
  await store.updateMessages("thousands", back);
  const { messages: seen } = await store.getHistory("thousands", {});
  expect(seen.map(({ state }) => state)).toEqual(["evicted", "superseded", "superseded"]);
});

test("a message that is not there, or is another, cannot be replaced or moved", async () => {
  const begin = update(null, 3, { append: messages(1, 2), move: [{ seq: 1, to: "evicted" }] });
  await store.updateMessages("agree", begin);
  const wrong = [
    { replace: [{ ...message(2), id: "another" }] },
    { replace: [message(1)] },
    { move: [{ seq: 7, to: "evicted" as const }] },
    { move: [{ seq: 7, to: "removed" as const }] },
    { append: [message(2)] },
  ];
  for (const change of wrong) {
    await expect(store.updateMessages("agree", update(begin.version, 9, change))).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
  }
  expect(await store.getMessages("agree")).toMatchObject({ version: begin.version, messages: [message(2)] });
});

test("a delete leaves nothing in the database", async () => {
  const begin = update(null, 203, { owner: "gone", append: [...messages(1, 200), sized(201, 900_000)] });
  await store.updateMessages("gone", begin);
  recorder.sent.length = 0;
  await store.deleteMessages("gone");
  const queries = recorder.sent.filter(({ operation }) => operation === "Query");
  expect(queries.map(({ input }) => input.ProjectionExpression)).toEqual(queries.map(() => "#p, #s"));
  expect(await itemsIn(client, tableName, "memory:gone")).toEqual([]);
  expect(await itemsBeside(client, tableName, "gone")).toEqual([]);
  expect(await itemsIn(client, tableName, "owner:gone")).toEqual([]);
  expect(await newestBeside(client, tableName, "gone")).toEqual([]);
  expect(await itemsIn(client, tableName, "newest:owner:gone")).toEqual([]);
});
