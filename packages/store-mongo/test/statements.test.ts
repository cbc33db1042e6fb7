import { inMemoryStore, type MemoryUpdate, type MessageState } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import {
  BSON,
  type CommandStartedEvent,
  type CommandSucceededEvent,
  MongoClient,
  type MongoClientOptions,
} from "mongodb";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { type MongoStore, mongoStore } from "../src/index.ts";
import { migrated, newDatabase } from "./support.ts";

const url = inject("mongoUrl");
const database = newDatabase();
const kilobytes = (count: number): string => JSON.stringify("x".repeat(count * 1024));
let client: MongoClient;
let store: MongoStore;
const commands: CommandStartedEvent[] = [];

beforeAll(async () => {
  await migrated(url, database);
  client = new MongoClient(url, { monitorCommands: true });
  client.on("commandStarted", (event) => commands.push(event));
  store = mongoStore({ client, database });
  await store.getMessages("the first call asks whether migrate has run");
});
afterAll(async () => {
  await client.db(database).dropDatabase();
  await client.close();
});

/** The commands that a call sends, with their collections. */
async function sent(call: () => Promise<unknown>): Promise<string[]> {
  commands.length = 0;
  await call();
  return commands.map(({ commandName, command }) => `${commandName} ${command[commandName]}`);
}

const [write, writeAnswered] = ["update turnkeep_memories", "findAndModify turnkeep_memories"];
const read = "find turnkeep_memories";
const [readRows, insertRows] = ["find turnkeep_messages", "insert turnkeep_messages"];
const deleteRows = "delete turnkeep_messages";

test("what writes documents names the key by which its collection may be sharded", async () => {
  const place = { client, database: await migrated(url, newDatabase()) };
  onTestFinished(async () => void (await client.db(place.database).dropDatabase()));
  const own = mongoStore(place);
  commands.length = 0;
  const large = (seq: number) => message(seq, kilobytes(100));
  const begin = update(null, 5, { owner: "o", append: [large(1), large(2), message(3), message(4)] });
  await own.updateMessages("sharded", begin);
  const move = [1, 3].map((seq) => ({ seq, to: seq === 1 ? ("removed" as const) : ("evicted" as const) }));
  await own.updateMessages("sharded", update(begin.version, 5, { move, replace: [message(2), large(4)] }));
  await own.deleteMessages("sharded");
  // Until the document is too large, and what has left goes into rows.
  let last = update(null, 2, { append: [message(1, kilobytes(15))] });
  await own.updateMessages("crowded", last);
  for (let seq = 2; seq <= 12; seq++) {
    const left = [{ seq: seq - 1, to: "evicted" as const }];
    last = update(last.version, seq + 1, { append: [message(seq, kilobytes(15))], move: left });
    await own.updateMessages("crowded", last);
  }
  const expiring = mongoStore({ ...place, ttlMs: 1 });
  for (const id of ["a", "b"]) await expiring.updateMessages(id, update(null, 2, { append: [large(1)] }));
  while ((await own.sweep()).removed === 0);
  const keyOf: Record<string, string> = { turnkeep_memories: "_id", turnkeep_messages: "life" };
  const seen = new Set<string>();
  for (const { commandName, command } of commands) {
    const collection = String(command[commandName]);
    const written: Record<string, Record<string, unknown>[]> = {
      findAndModify: [command.query],
      insert: command.documents,
      update: command.updates?.map(({ q }: { q: object }) => q),
      delete: command.deletes?.map(({ q }: { q: object }) => q),
    };
    for (const filter of written[commandName] ?? []) {
      seen.add(`${commandName} ${collection}`);
      // One that names the key in each of its parts goes to one shard, too.
      for (const part of (filter.$or as object[] | undefined) ?? [filter]) {
        expect(part, commandName).toHaveProperty([keyOf[collection] ?? ""], expect.any(String));
      }
    }
  }
  const all = [writeAnswered, write, insertRows, "update turnkeep_messages", deleteRows];
  expect([...seen].sort()).toEqual(all.sort());
});

describe("round trips", () => {
  test("a beginning, a write, a read and a page of history are one", async () => {
    const begin = update(null, 4, { owner: "o", append: messages(1, 3) });
    expect(await sent(() => store.updateMessages("trips", begin))).toEqual([write]);
    expect(await sent(() => store.updateMessages("trips", begin))).toEqual([write, read]);
    const plain = update(begin.version, 5, {
      append: [message(4)],
      move: [{ seq: 1, to: "evicted" }],
    });
    expect(await sent(() => store.updateMessages("trips", plain))).toEqual([write]);
    expect(await sent(() => store.updateMessages("trips", plain))).toEqual([write, read]);
    const change = update(plain.version, 6, {
      append: [message(5)],
      replace: [message(3, '"new"')],
      move: [
        { seq: 2, to: "removed" },
        { seq: 4, to: "superseded" },
      ],
    });
    expect(await sent(() => store.updateMessages("trips", change))).toEqual([write]);
    expect(await sent(() => store.updateMessages("trips", change))).toEqual([write, read]);
    const correct = update(change.version, 6, { replace: [{ ...message(1, '"new"'), state: "evicted" }] });
    expect(await sent(() => store.updateMessages("trips", correct))).toEqual([read, write]);
    const past = update(correct.version, 6, { move: [{ seq: 1, to: "live" }] });
    expect(await sent(() => store.updateMessages("trips", past))).toEqual([write, read, write]);
    const refused = () => store.updateMessages("trips", update("other", 7)).catch(() => {});
    expect(await sent(refused)).toEqual([write, read]);
    expect(await sent(() => store.getMessages("trips"))).toEqual([read]);
    expect(await sent(() => store.getHistory("trips", { ids: ["m1", "m4"] }))).toEqual([read]);
    expect(await sent(() => store.listMemories({ owner: "o" }))).toEqual([read]);
    expect(await sent(() => store.deleteMessages("trips"))).toEqual([read, writeAnswered]);
    const again = update(null, 2);
    await store.updateMessages("trips", again);
    const expected = again.version;
    expect(await sent(() => store.deleteMessages("trips", { expected }))).toEqual([writeAnswered]);
    const nothing = await sent(() => store.deleteMessages("trips", { expected }));
    expect(nothing).toEqual([writeAnswered, read, readRows]);
  });

  test.each(["deleteMessages", "sweep"] as const)(
    "%s removes many rows, some with each command",
    async (way) => {
      const begin = update(null, 2, { append: [message(1, kilobytes(20))] });
      await store.updateMessages("long", begin);
      const rows = client.db(database).collection<{ _id: string; life: string }>("turnkeep_messages");
      const [row] = await rows.find({ memory: "long" }).toArray();
      const more = Array.from({ length: 2_499 }, (_, index) => ({ ...row, _id: `${row?._id} ${index}` }));
      await rows.insertMany(more as { _id: string; life: string }[]);
      if (way === "sweep")
        await client.db(database).collection("turnkeep_memories").deleteOne({ version: begin.version });
      commands.length = 0;
      await (way === "sweep" ? store.sweep() : store.deleteMessages("long"));
      const deletes = commands.filter(({ commandName }) => commandName === "delete");
      expect(deletes.map(({ command }) => command.deletes[0].q._id.$in.length)).toEqual([1_000, 1_000, 500]);
      expect(await rows.countDocuments({ memory: "long" })).toBe(0);
    },
  );

  test("a correction of what has left reads where it stands, and settles what stood beside the document", async () => {
    const move = [1, 2].map((seq) => ({ seq, to: "evicted" as const }));
    const begin = update(null, 3, { append: [message(1, kilobytes(20)), message(2)], move });
    await store.updateMessages("corrected", begin);
    const settling = [writeAnswered, deleteRows, write];
    const corrected = (seq: number, payload: string) => [
      { ...message(seq, payload), state: "evicted" as const },
    ];
    const small = update(begin.version, 3, { replace: corrected(1, '"small"') });
    expect(await sent(() => store.updateMessages("corrected", small))).toEqual([read, write, ...settling]);
    const large = update(small.version, 3, { replace: corrected(2, kilobytes(20)) });
    expect(await sent(() => store.updateMessages("corrected", large))).toEqual([
      writeAnswered,
      insertRows,
      write,
    ]);
    expect(await sent(() => store.getMessages("corrected"))).toEqual([read]);
    expect((await store.getHistory("corrected", {})).messages.map(({ payload }) => payload)).toEqual([
      '"small"',
      kilobytes(20),
    ]);
  });

  test("a large message takes two writes more, and a read that meets one takes two steps", async () => {
    const begin = update(null, 2, { append: [message(1)] });
    await store.updateMessages("large", begin);
    const append = update(begin.version, 3, { append: [message(2, kilobytes(20))] });
    expect(await sent(() => store.updateMessages("large", append))).toEqual([
      writeAnswered,
      insertRows,
      write,
    ]);
    expect(await sent(() => store.getMessages("large"))).toEqual([read, readRows]);
    const settling = [writeAnswered, deleteRows, write];
    const replace = update(append.version, 3, { replace: [message(2, kilobytes(30))] });
    const replaced = await sent(() => store.updateMessages("large", replace));
    expect(replaced).toEqual([writeAnswered, insertRows, write, ...settling]);
    const evict = update(replace.version, 4, { append: [message(3)], move: [{ seq: 2, to: "evicted" }] });
    expect(await sent(() => store.updateMessages("large", evict))).toEqual([write]);
    expect(await sent(() => store.getMessages("large"))).toEqual([read]);
    const remove = update(evict.version, 4, { move: [{ seq: 2, to: "removed" }] });
    expect(await sent(() => store.updateMessages("large", remove))).toEqual([
      write,
      read,
      write,
      ...settling,
    ]);
    expect(
      await client.db(database).collection("turnkeep_messages").countDocuments({ memory: "large" }),
    ).toBe(0);
  });

  test("a read by who knows the version is one find, whose answer holds no message", async () => {
    const append = [message(1), message(2, kilobytes(20)), message(3)];
    const begin = update(null, 4, { owner: "o", head: "{}", append });
    await store.updateMessages("known", begin);
    const replies: unknown[] = [];
    const listen = ({ reply }: CommandSucceededEvent): void => void replies.push(reply);
    client.on("commandSucceeded", listen);
    expect(await sent(() => store.getMessages("known", { known: begin.version }))).toEqual([read]);
    client.off("commandSucceeded", listen);
    expect(JSON.stringify(replies)).not.toContain(message(1).payload);
    expect(await store.getMessages("known", { known: begin.version })).toEqual({
      ...{ version: begin.version, nextSeq: 4, owner: "o", head: "{}", messages: [], unchanged: true },
    });
    expect((await store.getMessages("known", { known: "$version" })).messages).toEqual(append);
  });

  test("every write waits for the disks of a majority, every read asks the primary", async () => {
    const begin = update(null, 2, { append: [message(1, kilobytes(20))] });
    commands.length = 0;
    await store.updateMessages("concerns", begin);
    await store.updateMessages("concerns", update(begin.version, 2, { move: [{ seq: 1, to: "removed" }] }));
    await store.sweep();
    await store.deleteMessages("concerns");
    const names = ["insert", "update", "delete", "findAndModify"];
    const writes = commands.filter(({ commandName }) => names.includes(commandName));
    expect(new Set(writes.map(({ commandName }) => commandName))).toEqual(new Set(names));
    for (const { command } of writes) expect(command.writeConcern).toMatchObject({ w: "majority", j: true });
  });
});

test("neither an append nor a read carries more when the history has grown", async () => {
  let version: string | null = null;
  for (let from = 1; from <= 3_001; from += 100) {
    const append = messages(from, from + 99).map((one) => ({ ...one, payload: kilobytes(1) }));
    const move = append.map(({ seq }) => ({ seq, to: "evicted" as const }));
    const change = update(version, from + 100, { append, move });
    await store.updateMessages("long", change);
    version = change.version;
  }
  const next = update(version, 3_102, { append: [message(3_101)] });
  expect(await sent(() => store.updateMessages("long", next))).toEqual([write]);
  expect(JSON.stringify(commands[0]?.command).length).toBeLessThan(4_000);
  const document = await client
    .db(database)
    .collection<{ _id: string }>("turnkeep_memories")
    .findOne({ _id: "long" });
  expect(JSON.stringify(document).length).toBeLessThan(300 * 1024);
  expect((await store.getMessages("long")).messages).toEqual([message(3_101)]);
  const page = await store.getHistory("long", { after: 2_998, limit: 2 });
  // Rows that count by themselves bring their content with them.
  expect(await sent(() => store.getHistory("long", { limit: 2 }))).toEqual([read, readRows, read]);
  expect(page.messages.map(({ seq }) => seq)).toEqual([2_999, 3_000]);
  // A change of what has left memory looks at its row, and brings no content along.
  const replies: unknown[] = [];
  const listen = ({ reply }: CommandSucceededEvent): void => void replies.push(reply);
  client.on("commandSucceeded", listen);
  const back = update(next.version, 3_102, { move: [{ seq: 5, to: "superseded" }] });
  expect(await sent(() => store.updateMessages("long", back))).toEqual([write, read, readRows, write]);
  client.off("commandSucceeded", listen);
  expect(JSON.stringify(replies[2])).not.toContain("xxxx");
  const all: number[] = [];
  for (let after = 0, hasMore = true; hasMore; after = all.at(-1) ?? 0) {
    const part = await store.getHistory("long", { after, limit: 700 });
    all.push(...part.messages.map(({ seq }) => seq));
    hasMore = part.hasMore;
  }
  expect(all).toEqual(messages(1, 3_101).map(({ seq }) => seq));
});

test("an append and a read cost the same at 10 messages said and at 1,500", async () => {
  const replies: CommandSucceededEvent[] = [];
  client.on("commandSucceeded", (event) => replies.push(event));
  const sizes = (): { calls: number; sent: number; received: number } => {
    const sum = (documents: readonly object[]): number =>
      documents.reduce((total, document) => total + BSON.calculateObjectSize(document), 0);
    const count = {
      calls: commands.length,
      sent: sum(commands.map(({ command }) => command)),
      received: sum(replies.map(({ reply }) => reply as object)),
    };
    commands.length = replies.length = 0;
    return count;
  };
  let next = 1_001;
  let version: string | null = null;
  /** So many messages more, of which the newest 10 stay. */
  async function say(count: number): Promise<void> {
    const append = messages(next, next + count - 1).map((one) => ({ ...one, payload: kilobytes(1) }));
    const move = messages(Math.max(1_001, next - 10), next + count - 11).map(({ seq }) => {
      return { seq, to: "evicted" as const };
    });
    const change = update(version, next + count, { append, move });
    await store.updateMessages("same", change);
    version = change.version;
    next += count;
  }
  /** Of an append and a read: the usual ones, for once in a hundred an append has something to settle. */
  async function costs(): Promise<object[]> {
    const appends: ReturnType<typeof sizes>[] = [];
    for (let times = 0; times < 5; times++) {
      sizes();
      await say(1);
      appends.push(sizes());
    }
    await store.getMessages("same");
    return [appends.sort((a, b) => a.sent - b.sent)[2] as object, sizes()];
  }
  await say(10);
  const young = await costs();
  while (next < 2_500) await say(50);
  expect(await costs()).toEqual(young);
  expect(young).toMatchObject([{ calls: 1 }, { calls: 1 }]);
});

test("thousands of messages change in one update", async () => {
  const begin = update(null, 6_001, { append: messages(1, 6_000) });
  await store.updateMessages("many", begin);
  const move = messages(1, 6_000).map(({ seq }) => ({ seq, to: "superseded" as const }));
  const wrong = update(begin.version, 6_003, { move: [...move, { seq: 6_002, to: "evicted" }] });
  await expect(store.updateMessages("many", wrong)).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringContaining("6002"),
  });
  expect((await store.getMessages("many")).messages).toHaveLength(6_000);
  const right = update(begin.version, 6_001, { move });
  expect(await sent(() => store.updateMessages("many", right))).toEqual([read, write]);
  expect((await store.getMessages("many")).messages).toEqual([]);
  expect((await store.getHistory("many", { limit: 1_000, after: 5_500 })).messages).toHaveLength(500);
  // None of them takes more room inside than what would stand for it.
  const rows = client.db(database).collection("turnkeep_messages");
  expect(await rows.countDocuments({ memory: "many", state: "staged" })).toBe(0);
});

test("an update of more than a thousand messages names none of their paths, nor does what moves them out", async () => {
  // The server searches a map from its start for each path.
  const pathsIn = ({ command }: CommandStartedEvent): number[] =>
    (command.updates ?? []).map(({ q, u }: { q: object; u: Record<string, object | undefined> }) =>
      [q, ...Object.values(u)].reduce((sum, named = {}) => sum + Object.keys(named).length, 0),
    );
  const twin = inMemoryStore();
  let version: string | null = null;
  async function change(nextSeq: number, changes: Partial<MemoryUpdate>): Promise<void> {
    const next = update(version, nextSeq, changes);
    commands.length = 0;
    await store.updateMessages("whole", next);
    expect(Math.max(...commands.flatMap(pathsIn))).toBeLessThan(30);
    version = next.version;
    await twin.updateMessages("whole", next);
    expect(await store.getMessages("whole")).toEqual(await twin.getMessages("whole"));
    for (let after = 0; after < nextSeq; after += 1_000) {
      const page = { after, before: after + 1_001, limit: 1_000 };
      expect(await store.getHistory("whole", page)).toEqual(await twin.getHistory("whole", page));
    }
  }
  const to = (state: MessageState | "removed", from: number, end: number, step = 1) =>
    messages(from, end)
      .filter(({ seq }) => seq % step === 0)
      .map(({ seq }) => ({ seq, to: state }));
  await change(3, { owner: "o", append: messages(1, 2) });
  await change(3_001, { append: messages(3, 3_000) });
  const large = messages(3_001, 4_100).map((one) => ({ ...one, payload: kilobytes(0.5) }));
  await change(4_101, { head: "{}", append: large, move: to("evicted", 2, 4_050, 2) });
  await change(4_102, { append: [message(4_101)] });
  const corrected = messages(1, 2_400)
    .filter(({ seq }) => seq % 2 === 0)
    .map(({ seq }) => ({ ...message(seq, `"new ${seq}"`), state: "evicted" as const }));
  await change(4_102, { replace: corrected });
  const replace = messages(1, 2_400)
    .filter(({ seq }) => seq % 2 === 1)
    .map(({ seq }) => message(seq, `"again ${seq}"`));
  await change(4_102, { replace, move: [...to("superseded", 3, 2_400, 3), ...to("removed", 3_001, 3_100)] });
  await change(4_102, { move: to("live", 1, 3_000).filter(({ seq }) => seq % 3 !== 0) });
  await change(4_102, { move: to("removed", 1, 3_000) });
  await change(4_103, { append: [message(4_102)] });
  await store.sweep();
  await change(4_104, { append: [message(4_103)], move: to("evicted", 4_101, 4_102) });
});

test("many live messages of a medium size are moved out of the document", async () => {
  let version: string | null = null;
  for (let from = 1; from <= 401; from += 10) {
    const append = messages(from, from + 9).map((one) => ({ ...one, payload: kilobytes(4) }));
    const change = update(version, from + 10, { append });
    await store.updateMessages("medium", change);
    version = change.version;
  }
  const expected = messages(1, 410).map((one) => ({ ...one, payload: kilobytes(4) }));
  expect((await store.getMessages("medium")).messages).toEqual(expected);
  const document = await client
    .db(database)
    .collection<{ _id: string }>("turnkeep_memories")
    .findOne({ _id: "medium" });
  expect(JSON.stringify(document).length).toBeLessThan(256 * 1024);
});

test("an append among very many live messages is one command, however long their ids", async () => {
  for (const [memoryId, count, length] of [
    ["long ids", 1_200, 256],
    ["short ids", 12_000, 36],
  ] as const) {
    const named = (seq: number) => ({
      ...message(seq, JSON.stringify("x".repeat(98))),
      meta: JSON.stringify("x".repeat(26)),
      id: String(seq).padStart(length, "i"),
    });
    const begin = update(null, count + 1, { append: messages(1, count).map(({ seq }) => named(seq)) });
    await store.updateMessages(memoryId, begin);
    const first = update(begin.version, count + 2, { append: [named(count + 1)] });
    await store.updateMessages(memoryId, first);
    const next = update(first.version, count + 3, { append: [named(count + 2)] });
    expect(await sent(() => store.updateMessages(memoryId, next))).toEqual([write]);
  }
});

test("thousands of messages beside the document: it is written by one command, read by its own rows, and settled", async () => {
  const rows = client.db(database).collection("turnkeep_messages");
  const payload = kilobytes(0.5);
  const append = messages(1, 3_000).map((one) => ({ ...one, payload }));
  const begin = update(null, 3_001, { append });
  await store.updateMessages("beside", begin);
  await store.updateMessages("other", { ...begin, version: "other" });
  expect(await rows.countDocuments({ memory: "beside" })).toBeGreaterThan(2_500);
  const next = update(begin.version, 3_002, { append: [message(3_001)] });
  expect(await sent(() => store.updateMessages("beside", next))).toEqual([write]);
  let received = 0;
  const listen = ({ reply }: CommandSucceededEvent): void => {
    received += BSON.calculateObjectSize(reply as object);
  };
  client.on("commandSucceeded", listen);
  expect((await store.getMessages("beside")).messages).toEqual([...append, message(3_001)]);
  client.off("commandSucceeded", listen);
  expect(received).toBeLessThan(3_000 * 1_000);
  // What stays inside goes first, so that nothing is left to be moved out when all the others leave.
  const inside = messages(1, 3_001).slice(0, 3_001 - (await rows.countDocuments({ memory: "beside" })));
  const remove = update(next.version, 3_002, { move: inside.map(({ seq }) => ({ seq, to: "removed" })) });
  await store.updateMessages("beside", remove);
  const left = messages(inside.length + 1, 3_000);
  const evict = update(remove.version, 3_002, { move: left.map(({ seq }) => ({ seq, to: "evicted" })) });
  await store.updateMessages("beside", evict);
  await store.updateMessages("beside", update(evict.version, 3_003, { append: [message(3_002)] }));
  const memories = client.db(database).collection<{ _id: string; evicted: object }>("turnkeep_memories");
  expect((await memories.findOne({ _id: "beside" }))?.evicted).toEqual({});
  expect(await rows.countDocuments({ memory: "beside", state: "staged" })).toBe(0);
  expect((await store.getHistory("beside", { states: ["evicted"], limit: 1_000 })).messages).toHaveLength(
    1_000,
  );
});

test("texts that look like expressions or paths stay texts", async () => {
  for (const text of ["$version", "$$NOW", "$$REMOVE", "a.b", "$", "{$gt: 1}"]) {
    const one = { ...message(1, text), id: text, meta: text };
    const begin = update(null, 2, { version: `${text} 1`, owner: text, head: text, append: [one] });
    await store.updateMessages(text, begin);
    const next = update(begin.version, 3, {
      version: text,
      head: text,
      replace: [{ ...one, meta: "$$NOW" }],
    });
    await store.updateMessages(text, next);
    const expected = { version: text, owner: text, head: text, messages: [{ ...one, meta: "$$NOW" }] };
    expect(await store.getMessages(text)).toEqual({ nextSeq: 3, ...expected });
    await store.updateMessages(text, update(text, 3, { move: [{ seq: 1, to: "evicted" }] }));
    expect((await store.getHistory(text, { ids: [text] })).messages).toHaveLength(1);
    expect((await store.listMemories({ owner: text })).memories).toMatchObject([
      { memoryId: text, owner: text },
    ]);
  }
});

test("sequence numbers keep their last digit", async () => {
  const last = Number.MAX_SAFE_INTEGER - 1;
  const append = [last - 2, last - 1].map((seq) => ({ ...message(seq, kilobytes(20)), createdAt: 0 }));
  const begin = update(null, last, { append });
  await store.updateMessages("far", begin);
  const evict = update(begin.version, last, { move: [{ seq: last - 2, to: "evicted" }] });
  await store.updateMessages("far", evict);
  expect(await store.getMessages("far")).toMatchObject({ nextSeq: last, messages: [append[1]] });
  const page = await store.getHistory("far", { after: last - 2 });
  expect(page.messages).toEqual([{ ...append[1], state: "live" }]);
  const back = update(evict.version, last, { move: [{ seq: last - 2, to: "live" }] });
  await store.updateMessages("far", back);
  expect((await store.getMessages("far")).messages).toEqual(append);
});

test.each<MongoClientOptions>([{ promoteValues: false }, { raw: true }, { ignoreUndefined: false }])(
  "the store does not depend on the client's settings: %j",
  async (settings) => {
    const own = new MongoClient(url, settings);
    onTestFinished(() => own.close());
    const memoryId = `settings ${JSON.stringify(settings)}`;
    const append = [message(1, kilobytes(20)), message(2), message(3)];
    const begin = update(null, 4, { owner: memoryId, head: "{}", append });
    const given = mongoStore({ client: own, database });
    await given.updateMessages(memoryId, begin);
    const evict = update(begin.version, 4, { move: [{ seq: 1, to: "evicted" }] });
    await given.updateMessages(memoryId, evict);
    const read = await given.getMessages(memoryId);
    expect(read).toEqual({
      ...{ version: evict.version, nextSeq: 4, owner: memoryId, head: "{}", messages: append.slice(1) },
    });
    expect(read).toEqual(await store.getMessages(memoryId));
    expect(await given.getHistory(memoryId, {})).toEqual(await store.getHistory(memoryId, {}));
    expect(await given.listMemories({ owner: memoryId })).toEqual(
      await store.listMemories({ owner: memoryId }),
    );
  },
);
