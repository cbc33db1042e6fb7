import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { assistant, type ChatMemories, createChatMemories, type ModelMessage, user } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import { identifiersOf, migrateStatements, migrationsOf } from "../src/migrations.ts";
import { newDatabase } from "./server.ts";
import { openPool, storeBefore } from "./support.ts";

let admin: pg.Pool;
let url: string;
/** Owns the tables; unlike the administrator it is subject to policies that are forced. */
const owner = `owner_${randomUUID().slice(0, 8)}`;
const [ann, bob] = ["ann", "bob"].map((name) => `${name}_${randomUUID().slice(0, 8)}`) as [string, string];
const roles = [owner, ann, bob];

beforeAll(async () => {
  url = await newDatabase();
  admin = openPool(url);
  for (const role of roles) await admin.query(`create role ${role} login password 'x'`);
  await admin.query(`grant create on schema public to ${owner}`);
});
afterAll(async () => {
  await admin.query(`drop owned by ${roles.join()}; drop role ${roles.join()}`);
  await admin.end();
});

/** A store as that role, closed when the test is done. */
function storeOf(role: string, ttlMs?: number): PostgresStore {
  const address = new URL(url);
  address.username = role;
  address.password = "x";
  const store = postgresStore({ url: address.href, ttlMs });
  onTestFinished(() => store.close());
  return store;
}

function memoriesOf(role: string): ChatMemories<ModelMessage> {
  const memories = createChatMemories({ store: storeOf(role) });
  onTestFinished(() => memories.close());
  return memories;
}

/** All payloads that the table holds. */
async function payloads(): Promise<string[]> {
  return (await admin.query("select payload from turnkeep_messages")).rows.map(({ payload }) => payload);
}

/** Makes the tables anew, and these policies on them. */
async function migrateWith(policies: string): Promise<void> {
  await admin.query("drop table if exists turnkeep_messages, turnkeep_memories, turnkeep_migrations");
  await storeOf(owner).migrate();
  await admin.query(`
    grant select, insert, update, delete on turnkeep_memories, turnkeep_messages to ${ann}, ${bob};
    grant select on turnkeep_migrations to ${ann}, ${bob};
    ${policies}`);
}

const ofItsMemory =
  "exists (select from turnkeep_memories h where h.memory_key = turnkeep_messages.memory_key)";
const enabled = `
  alter table turnkeep_memories enable row level security;
  alter table turnkeep_messages enable row level security;`;
/** As the README gives them. */
const tenants = /^```sql\n(alter table .* enable row level security;\n[^`]+)```$/m.exec(
  readFileSync(new URL("../README.md", import.meta.url), "utf8"),
)?.[1] as string;
const forced = `
  alter table turnkeep_memories force row level security;
  alter table turnkeep_messages force row level security;`;

describe.each([
  ["enabled", ""],
  ["forced on the owner of the tables too", forced],
])("two tenants as two roles, with row-level security %s", (_, also) => {
  beforeEach(() => migrateWith(tenants + also));

  test("each has what a memory does, and sees only its own", async () => {
    for (const role of [ann, bob]) {
      const memories = memoriesOf(role);
      const memory = memories.get(`chat of ${role}`, { owner: role });
      await memory.add(user(`I am ${role}`), assistant("Hello"));
      const [id] = await memory.add(user("a slip"));
      await memory.remove(id);
      await memory.put("answer", assistant("draft"));
      await memory.put("answer", assistant("done"));
      expect((await memory.messages()).map(({ content }) => content)).toEqual([
        `I am ${role}`,
        "Hello",
        "done",
      ]);
    }
    const [own, other] = [storeOf(ann), `chat of ${bob}`];
    expect(await own.getMessages(other)).toEqual({ version: null, nextSeq: 1, messages: [] });
    expect(await own.getHistory(other, {})).toEqual({ messages: [], hasMore: false });
    expect((await own.listMemories({})).memories.map(({ memoryId }) => memoryId)).toEqual([`chat of ${ann}`]);
    expect((await own.listMemories({ owner: bob })).memories).toEqual([]);
  });

  test("what a tenant erases, clears or deletes is gone from the table", async () => {
    const memories = memoriesOf(ann);
    for (const id of ["erased", "cleared", "deleted"]) {
      await memories.get(id, { owner: ann }).add(user("private"), assistant("I see"));
    }
    await memoriesOf(bob).get("kept", { owner: bob }).add(user("of bob"));
    await memories.get("cleared", { owner: ann }).clear();
    await storeOf(ann).deleteMessages("deleted");
    expect(await memories.erase({ owner: ann })).toMatchObject({ erased: ["erased"] });
    const left = await payloads();
    expect(left).toHaveLength(1);
    expect(left[0]).toContain("of bob");
  });

  test("what has expired is gone once it is swept or its id begins anew", async () => {
    const store = storeOf(ann, 3_600_000);
    for (const id of ["swept", "anew"]) {
      await store.updateMessages(id, update(null, 3, { owner: ann, append: messages(1, 2) }));
    }
    await admin.query("update turnkeep_memories set expires_at = now(), sweep_at = now()");
    const again = message(1, '"anew"');
    await store.updateMessages("anew", update(null, 2, { owner: ann, append: [again] }));
    expect(await store.sweep()).toEqual({ removed: 1 });
    expect(await payloads()).toEqual(['"anew"']);
  });

  test("an id that another tenant's memory has is refused, and nothing is written", async () => {
    await memoriesOf(bob).get("taken", { owner: bob }).add(user("of bob"));
    const memory = memoriesOf(ann).get("taken", { owner: ann });
    await expect(memory.add(user("of ann"))).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringMatching(/policy.*same id.*"turnkeep_memories"/),
      cause: { code: "42501" },
    });
    // To the tenant it is not there, so there is nothing to delete.
    await storeOf(ann).deleteMessages("taken");
    expect(await payloads()).toEqual([expect.stringContaining("of bob")]);
  });

  test("a memory becomes another tenant's only by a role that may, and is then that one's alone", async () => {
    const begin = update(null, 2, { owner: ann, data: "1", append: [message(1)] });
    const [ofAnn, ofBob] = [storeOf(ann), storeOf(bob)];
    await ofAnn.updateMessages("moves", begin);
    const assign = update(begin.version, 2, { owner: bob });
    await expect(ofAnn.updateMessages("moves", assign)).rejects.toMatchObject({ code: "STORE_REFUSED" });
    expect(await ofAnn.getMessages("moves")).toMatchObject({ version: begin.version, owner: ann });
    await postgresStore({ client: admin }).updateMessages("moves", assign);
    for (const order of ["stored", "newest"] as const) {
      expect(await ofAnn.listMemories({ order })).toEqual({ memories: [] });
      expect((await ofBob.listMemories({ order })).memories).toMatchObject([
        { memoryId: "moves", data: "1" },
      ]);
    }
    expect(await ofAnn.getMessages("moves")).toMatchObject({ version: null });
  });

  test("an owner that the policy does not let the tenant be is refused", async () => {
    const memory = memoriesOf(ann).get("of bob", { owner: bob });
    await expect(memory.add(user("not mine"))).rejects.toMatchObject({ code: "STORE_REFUSED" });
    expect(await payloads()).toEqual([]);
  });
});

test("a policy on messages with `using` alone lets nobody begin a memory, and says so", async () => {
  await migrateWith(`${enabled}
    create policy tenant on turnkeep_memories using (owner = current_user);
    create policy tenant on turnkeep_messages using (${ofItsMemory});`);
  const begin = update(null, 2, { owner: ann, append: [message(1)] });
  await expect(storeOf(ann).updateMessages("a", begin)).rejects.toMatchObject({
    code: "STORE_REFUSED",
    message: expect.stringContaining('"turnkeep_messages"'),
  });
  expect(await storeOf(ann).getMessages("a")).toMatchObject({ version: null });
});

test("a migration as a role that sees only a part takes nothing for left behind, and says what to do", async () => {
  await admin.query("drop table if exists turnkeep_messages, turnkeep_memories, turnkeep_migrations");
  const names = identifiersOf("public", "turnkeep_");
  const [withTrigger] = migrateStatements(names, migrationsOf(names).slice(0, 1));
  await admin.query(`set role ${owner}; ${withTrigger?.text}; reset role`);
  const begin = update(null, 4, { owner: ann, append: messages(1, 3) });
  await storeBefore("sweep_at", admin).updateMessages("a", begin);
  await admin.query(`${tenants} alter table turnkeep_memories force row level security;`);
  await expect(storeOf(owner).migrate()).rejects.toMatchObject({
    code: "STORE_NOT_READY",
    message: expect.stringContaining("row-level security"),
  });
  expect(await payloads()).toHaveLength(3);
  await admin.query("alter table turnkeep_memories no force row level security");
  await storeOf(owner).migrate();
  expect(await payloads()).toHaveLength(3);
});

test("one role for all tenants goes by a setting of the transaction", async () => {
  await migrateWith(tenants.replace("current_user", "current_setting('app.user', true)"));
  const address = new URL(url);
  address.username = ann;
  address.password = "x";
  const pool = openPool(address.href);
  onTestFinished(() => pool.end());
  async function as<T>(tenant: string, use: (store: PostgresStore) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    try {
      await client.query("begin");
      await client.query("select set_config('app.user', $1, true)", [tenant]);
      const result = await use(postgresStore({ client }));
      await client.query("commit");
      return result;
    } finally {
      client.release();
    }
  }
  for (const tenant of ["one", "two"]) {
    const begin = update(null, 2, { owner: tenant, append: [message(1)] });
    await as(tenant, (store) => store.updateMessages(`of ${tenant}`, begin));
  }
  for (const tenant of ["one", "two"]) {
    const { memories } = await as(tenant, (store) => store.listMemories({}));
    expect(memories.map(({ memoryId }) => memoryId)).toEqual([`of ${tenant}`]);
  }
  await as("one", (store) => store.deleteMessages("of one"));
  expect(await payloads()).toHaveLength(1);
  expect((await postgresStore({ client: pool }).listMemories({})).memories).toEqual([]);
});

describe("policies that show more than they let change", () => {
  const refusal = expect.objectContaining({
    code: "STORE_REFUSED",
    message: expect.stringContaining("row-level security"),
  });

  /** A memory of four messages of ann's, made by an administrator. */
  async function memoryUnder(policies: string): Promise<{ store: PostgresStore; version: string }> {
    await migrateWith(policies);
    const begin = update(null, 5, { owner: ann, append: messages(1, 4) });
    await postgresStore({ client: admin }).updateMessages("a", begin);
    return { store: storeOf(ann), version: begin.version };
  }

  test("of memories: what cannot be changed or deleted is an error", async () => {
    const { store, version } = await memoryUnder(`${enabled}
      create policy see on turnkeep_memories for select using (true);
      create policy sees on turnkeep_messages using (true);`);
    const refused = [
      () => store.deleteMessages("a"),
      () => store.deleteMessages("a", { expected: version }),
      () => store.updateMessages("a", update(version, 6, { append: [message(5)] })),
      () => store.updateMessages("a", update(version, 5, { move: [{ seq: 1, to: "superseded" }] })),
    ];
    for (const call of refused) await expect(call()).rejects.toEqual(refusal);
    expect((await store.getMessages("a")).messages).toEqual(messages(1, 4));
    await expect(store.deleteMessages("a", { expected: "v" })).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
  });

  test("of what has expired: no sweep and no beginning passes over it in silence", async () => {
    const { store } = await memoryUnder(`${enabled}
      create policy see on turnkeep_memories for select using (true);
      create policy write on turnkeep_memories for update using (true);
      create policy begin on turnkeep_memories for insert with check (true);
      create policy sees on turnkeep_messages using (true);`);
    await admin.query("update turnkeep_memories set expires_at = now(), sweep_at = now()");
    await expect(store.sweep()).rejects.toEqual(refusal);
    await expect(store.deleteMessages("a")).rejects.toEqual(refusal);
    const begin = update(null, 2, { owner: ann, append: [message(1)] });
    await expect(store.updateMessages("a", begin)).rejects.toEqual(refusal);
    expect(await payloads()).toHaveLength(4);
  });

  test("of messages: no removal, replacement or move passes over one in silence", async () => {
    const { store, version } = await memoryUnder(`${enabled}
      create policy own on turnkeep_memories using (true);
      create policy see on turnkeep_messages for select using (true);
      create policy add on turnkeep_messages for insert with check (true);`);
    for (const change of [
      update(version, 5, { move: [{ seq: 2, to: "removed" }] }),
      update(version, 6, { append: [message(5)], replace: [message(2, '"new"')] }),
      update(version, 5, { move: [{ seq: 2, to: "superseded" }] }),
    ]) {
      await expect(store.updateMessages("a", change)).rejects.toEqual(refusal);
    }
    expect(await store.getMessages("a")).toMatchObject({ version, messages: messages(1, 4) });
    // Deleting the memory does not depend on them.
    await store.deleteMessages("a", { expected: version });
    expect(await payloads()).toEqual([]);
  });
});
