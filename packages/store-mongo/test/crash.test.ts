import type {
  ChatMemoryStore,
  MemorySnapshot,
  MemoryUpdate,
  MessageState,
  StoredMessage,
} from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { message, update } from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { mongoStore } from "../src/index.ts";
import { dyingAt, intercepted, migrated, newDatabase } from "./support.ts";

const url = inject("mongoUrl");
const database = newDatabase();
let client: MongoClient;

beforeAll(async () => {
  await migrated(url, database);
  client = new MongoClient(url);
});
afterAll(async () => {
  await client.db(database).dropDatabase();
  await client.close();
});

/** Inside the document, inside until there are many, and beside it. */
const sizes = [40, 40, 40, 3_000, 3_000, 20_000];

/** Every state in the order of the versions, by the updates that led there. */
class Chain {
  readonly updates = new Map<string, MemoryUpdate>();
  readonly acknowledged = new Set<string>();

  /** The updates that led to a version; one that is unknown ends the test. */
  to(version: string | null): MemoryUpdate[] {
    const path: MemoryUpdate[] = [];
    for (let at = version; at !== null; ) {
      const found = this.updates.get(at);
      if (found === undefined) throw new Error(`nobody made version ${at}`);
      path.unshift(found);
      at = found.expected;
    }
    return path;
  }
}

type Row = StoredMessage & { state: MessageState };

function apply(rows: Map<number, Row>, { append, replace, move }: MemoryUpdate): void {
  for (const one of [...append, ...replace]) rows.set(one.seq, { ...one, state: "live" });
  for (const { seq, to } of move) {
    const row = rows.get(seq);
    if (to === "removed" || row === undefined) rows.delete(seq);
    else rows.set(seq, { ...row, state: to });
  }
}

const sorted = (rows: Map<number, Row>): Row[] => [...rows.values()].sort((a, b) => a.seq - b.seq);

async function historyOf(store: ChatMemoryStore, memoryId: string): Promise<Row[]> {
  const found: Row[] = [];
  for (let after = 0; ; ) {
    const page = await store.getHistory(memoryId, { after, limit: 37 });
    found.push(...page.messages);
    after = page.messages.at(-1)?.seq ?? after;
    if (!page.hasMore) return found;
  }
}

test("four writers, thousands of conflicts and crashes between any two writes", async () => {
  const memoryId = "crash";
  const chain = new Chain();
  const snapshots = new Map<string, MemorySnapshot>();
  const healthy = mongoStore({ client, database });
  let [conflicts, crashes, replays] = [0, 0, 0];
  let seed = 20_260_101;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };

  async function next({ version, nextSeq, messages }: MemorySnapshot, writer: string): Promise<MemoryUpdate> {
    const payload = () => JSON.stringify(`${writer} ${"x".repeat(sizes[random(sizes.length)] ?? 0)}`);
    const append = [message(nextSeq, payload()), message(nextSeq + 1, payload())];
    const move: MemoryUpdate["move"] = [];
    const replace: StoredMessage[] = [];
    for (const one of messages.slice(0, Math.max(0, messages.length - 8))) {
      const to =
        (["evicted", "superseded", "removed"] as const)[random(10) === 0 ? 2 : random(2)] ?? "evicted";
      move.push({ seq: one.seq, to });
    }
    const newest = messages.at(-1);
    if (newest !== undefined && random(3) === 0) replace.push({ ...newest, payload: payload() });
    if (random(8) === 0) {
      const past = await healthy.getHistory(memoryId, { states: ["evicted", "superseded"], limit: 20 });
      const one = past.messages[random(20)];
      const to = (["live", "superseded", "removed"] as const)[random(3)] ?? "live";
      if (one !== undefined && !move.some(({ seq }) => seq === one.seq)) move.push({ seq: one.seq, to });
    }
    return update(version, nextSeq + 2, { append, replace, move, head: `"${writer}"` });
  }

  /** One update, by a process that may die at any of its writes; `meet` lets others read the same state before it writes. */
  async function operate(writer: string, meet: () => Promise<void> = async () => {}): Promise<void> {
    const dies = random(3) === 0;
    const process = dies ? intercepted(client, dyingAt(1 + random(9))) : client;
    const store = mongoStore({ client: process, database });
    let met: Promise<void> | undefined;
    try {
      if (random(12) === 0) await store.sweep();
      const snapshot = await store.getMessages(memoryId);
      if (snapshot.version !== null) snapshots.set(snapshot.version, snapshot);
      const change = await next(snapshot, writer);
      chain.updates.set(change.version, change);
      met = meet();
      await met;
      await store.updateMessages(memoryId, change);
      chain.acknowledged.add(change.version);
    } catch (error) {
      met ??= meet();
      if (isTurnkeepError(error, "VERSION_CONFLICT")) {
        conflicts++;
        return;
      }
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(dies).toBe(true);
      crashes++;
    }
  }

  /** What was acknowledged is replayed late, as a network would. */
  async function replayOne(): Promise<void> {
    const versions = [...chain.acknowledged];
    const late = chain.updates.get(versions[random(versions.length)] ?? "");
    if (late === undefined) return;
    await healthy.updateMessages(memoryId, late).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "VERSION_CONFLICT" });
      replays++;
    });
  }

  const names = ["a", "b", "c", "d"];
  // As they come, then each from a state that the others have read too.
  await Promise.all(
    names.map(async (writer) => {
      for (let n = 0; n < 60; n++) await operate(writer);
    }),
  );
  while (conflicts < 2_000) {
    let resolve = (): void => {};
    const all = new Promise<void>((done) => {
      resolve = done;
    });
    let count = 0;
    const meet = (): Promise<void> => {
      if (++count === names.length) resolve();
      return all;
    };
    await Promise.all(names.map((writer) => operate(writer, meet)));
    if (random(5) === 0) await replayOne();
  }

  const last = await healthy.getMessages(memoryId);
  const path = chain.to(last.version);
  const reached = new Set(path.map(({ version }) => version));
  expect([...chain.acknowledged].filter((version) => !reached.has(version))).toEqual([]);
  const rows = new Map<number, Row>();
  for (const step of path) {
    apply(rows, step);
    const seen = snapshots.get(step.version)?.messages;
    const live = sorted(rows).filter(({ state }) => state === "live");
    if (seen !== undefined) expect(seen).toEqual(live.map(({ state: _, ...one }) => one));
  }
  expect(await historyOf(healthy, memoryId)).toEqual(sorted(rows));

  // The next write and a sweep leave nothing but what counts.
  const final = update(last.version, last.nextSeq + 1, { append: [message(last.nextSeq)] });
  await healthy.updateMessages(memoryId, final);
  await healthy.sweep();
  apply(rows, final);
  expect(await historyOf(healthy, memoryId)).toEqual(sorted(rows));
  const stored = client.db(database).collection("turnkeep_messages");
  const staged = await stored.find({ state: "staged" }).project({ seq: 1 }).toArray();
  expect(staged.length).toBeLessThanOrEqual(rows.size);
  for (const { seq } of staged) expect(rows.has(Number(seq))).toBe(true);
  const settled = await stored.countDocuments({});
  expect(settled).toBeLessThanOrEqual(rows.size);
  expect(crashes).toBeGreaterThan(50);
  expect(replays).toBeGreaterThan(0);
}, 300_000);

test("the next append settles what a write that died has left", async () => {
  const memoryId = "left behind";
  const healthy = mongoStore({ client, database });
  const rows = (): Promise<number> =>
    client.db(database).collection("turnkeep_messages").countDocuments({ memory: memoryId });
  const large = JSON.stringify("x".repeat(20_000));
  const begin = update(null, 3, { append: [message(1, large), message(2)] });
  await healthy.updateMessages(memoryId, begin);
  const remove = update(begin.version, 3, { move: [{ seq: 1, to: "removed" }] });
  // The document refuses to be changed by who does not know the row, then is changed; and it dies before it deletes the row.
  await mongoStore({ client: intercepted(client, dyingAt(3)), database }).updateMessages(memoryId, remove);
  expect(await rows()).toBe(1);
  await healthy.updateMessages(memoryId, update(remove.version, 4, { append: [message(3)] }));
  expect(await rows()).toBe(0);
});
