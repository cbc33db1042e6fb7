import { randomUUID } from "node:crypto";
import { createChatMemory, entry, user } from "@turnkeep/core";
import { type MongoServer, startMongo } from "@turnkeep/servers";
import { failure, message, type NetworkProxy, startProxy, update } from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { type MongoStore, mongoStore } from "../src/index.ts";
import { migrated, newDatabase } from "./support.ts";

const database = newDatabase();
let replicaSet: MongoServer;

beforeAll(async () => {
  replicaSet = await startMongo({ replicaSet: 1 });
  for (const url of [replicaSet.url, inject("mongoUrl")]) await migrated(url, database);
});
afterAll(() => replicaSet?.stop());

interface Setting {
  readonly server: "a replica set" | "a standalone server";
  readonly retryWrites: boolean;
}

/** On a replica set the driver sends a write again, and the server then answers what it answered the first time. */
const settings: Setting[] = [
  { server: "a replica set", retryWrites: true },
  { server: "a replica set", retryWrites: false },
  { server: "a standalone server", retryWrites: true },
  { server: "a standalone server", retryWrites: false },
];

describe.each(settings)("on $server, retryWrites $retryWrites, a lost answer", ({ server, retryWrites }) => {
  const isRepeated = server === "a replica set" && retryWrites;
  let proxy: NetworkProxy;
  /** Its answers may be lost. */
  let near: MongoStore;
  /** Another process. */
  let other: MongoStore;

  beforeAll(async () => {
    const url = server === "a replica set" ? replicaSet.url : inject("mongoUrl");
    proxy = await startProxy(url);
    const config = { url: proxy.through(url.replace(/\?.*/, "")), directConnection: true, retryWrites };
    near = mongoStore({ config, database });
    other = mongoStore({ url, database });
  });
  afterAll(async () => {
    await near.close();
    await other.close();
    await proxy.stop();
  });

  /** Makes a call whose request with that marker is served, and its answer lost after `meanwhile`. */
  async function lost<T>(
    marker: string,
    call: () => Promise<T>,
    meanwhile: () => Promise<unknown>,
  ): Promise<unknown> {
    const struck = proxy.strike(marker, "drop-reply", meanwhile);
    const outcome = await call().catch((error: { code: string }) => error.code);
    await struck;
    return outcome;
  }

  const open = isRepeated ? undefined : "STORE_UNAVAILABLE";
  const large = (seq: number) => message(seq, JSON.stringify("x".repeat(20_000)));
  const seqsIn = async (memoryId: string): Promise<number[]> =>
    (await other.getMessages(memoryId)).messages.map(({ seq }) => seq);

  test.each([
    ["begins", null, message],
    ["goes on", "begun", message],
    ["begins, with a large message", null, large],
    ["goes on, with a large message", "begun", large],
  ])(
    "brings nothing back that another process clears or removes meanwhile: it %s",
    async (_, expected, make) => {
      for (const clears of [true, false]) {
        const memoryId = randomUUID();
        const begin = update(null, 2, { append: [message(1)] });
        if (expected !== null) await other.updateMessages(memoryId, begin);
        const change = update(expected === null ? null : begin.version, 3, { append: [make(2)] });
        const next = update(change.version, 3, { move: [{ seq: 2, to: "removed" }] });
        const call = (): Promise<void> => near.updateMessages(memoryId, change);
        const act = () => (clears ? other.deleteMessages(memoryId) : other.updateMessages(memoryId, next));
        // The last command of the update is the one that carries its version.
        expect(await lost(change.version, call, act)).toBe(open);
        expect(await seqsIn(memoryId)).toEqual(clears || expected === null ? [] : [1]);
        // A repeat of what would begin the memory anew may do so; any other is refused.
        if (expected === null && clears) continue;
        expect(await failure(call)).toMatchObject({ code: "VERSION_CONFLICT" });
      }
    },
  );

  test("is told apart from a refusal: who sends it again finds that it is in place", async () => {
    const memoryId = randomUUID();
    const begin = update(null, 2, { append: [large(1)] });
    const call = (): Promise<void> => near.updateMessages(memoryId, begin);
    expect(await lost(begin.version, call, async () => {})).toBe(open);
    await call();
    expect(await seqsIn(memoryId)).toEqual([1]);
  });

  test("of a delete spares the next memory of that id", async () => {
    for (const isConditional of [true, false]) {
      const memoryId = randomUUID();
      const begin = update(null, 2, { append: [large(1)] });
      await other.updateMessages(memoryId, begin);
      const anew = update(null, 2, { append: [large(1)] });
      const options = isConditional ? { expected: begin.version } : undefined;
      const call = (): Promise<void> => near.deleteMessages(memoryId, options);
      const outcome = await lost("findAndModify", call, () => other.updateMessages(memoryId, anew));
      expect(outcome).toBe(open);
      expect((await other.getMessages(memoryId)).messages).toEqual(anew.append);
      if (isConditional) expect(await failure(call)).toMatchObject({ code: "VERSION_CONFLICT" });
    }
  });

  test.each(["clear", "remove"] as const)(
    "of a memory's add is no reason to add again after a %s",
    async (act) => {
      const id = randomUUID();
      const theirs = createChatMemory({ id, store: other });
      await theirs.add(entry(user("first"), { id: "first" }));
      const ours = createChatMemory({ id, store: near, timeoutMs: 20_000 });
      await ours.messages();
      const marker = `marker-${id}`;
      const add = (): Promise<string[]> => ours.add(entry(user(marker), { id: "second" }));
      await lost(marker, add, async () => {
        await theirs.messages();
        if (act === "clear") await theirs.clear();
        else await theirs.remove("second");
      });
      const left = (await theirs.messages()).map(({ content }) => content);
      expect(left).toEqual(act === "clear" ? [] : ["first"]);
    },
  );
});

test("an update that the server repeats past its memory's end, since a transaction holds it, counts from when it came", async () => {
  const memoryId = randomUUID();
  const ttlMs = 3_600_000;
  const mortal = mongoStore({ url: replicaSet.url, database, ttlMs });
  const client = new MongoClient(replicaSet.url);
  // Its own deletion waits for the transaction too, and might be the first behind it.
  const deletes = (isOn: boolean) => client.db("admin").command({ setParameter: 1, ttlMonitorEnabled: isOn });
  onTestFinished(async () => {
    await deletes(true);
    await mortal.close();
    await client.close();
  });
  await deletes(false);
  const begin = update(null, 2, { append: [message(1)] });
  await mortal.updateMessages(memoryId, begin);
  const memories = client.db(database).collection<{ _id: string; expiresAt: Date }>("turnkeep_memories");
  // Long enough that the update comes before it.
  const end = { $set: { expiresAt: { $add: ["$$NOW", 10_000] } } };
  const ended = await memories.findOneAndUpdate({ _id: memoryId }, [end], { returnDocument: "after" });
  const session = client.startSession();
  session.startTransaction();
  await memories.updateOne({ _id: memoryId }, { $set: { note: "" } }, { session });
  const late = mortal.updateMessages(memoryId, update(begin.version, 3, { append: [message(2)] }));
  late.catch(() => {});
  const isRepeated = { ns: memories.namespace, op: "update", writeConflicts: { $gt: 0 } };
  const repeated = () =>
    client
      .db("admin")
      .aggregate([{ $currentOp: {} }, { $match: isRepeated }])
      .toArray();
  await expect.poll(repeated, { timeout: 20_000 }).toHaveLength(1);
  const read = async () => (await mortal.getMessages(memoryId)).version;
  await expect.poll(read, { interval: 100, timeout: 60_000 }).toBeNull();
  await session.abortTransaction();
  await late;
  expect((await mortal.getMessages(memoryId)).messages).toEqual([message(1), message(2)]);
  const prolonged = await memories.findOne({ _id: memoryId });
  expect(prolonged?.expiresAt.getTime()).toBeLessThan(Number(ended?.expiresAt.getTime()) + ttlMs);
});
