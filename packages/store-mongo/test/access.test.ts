import { type MongoServer, startMongo } from "@turnkeep/servers";
import { failure, message, said, update } from "@turnkeep/store-tests";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mongoStore } from "../src/index.ts";
import { withClient } from "./support.ts";

const password = "s3cret";
const words = "private words";
let server: MongoServer;

beforeAll(async () => {
  server = await startMongo({ access: true, log: () => {} });
  const store = mongoStore({ url: server.url, database: "chat" });
  await store.migrate();
  await store.close();
  await withClient(server.url, async (client) => {
    const chat = client.db("chat");
    const rows = ["find", "insert", "update", "remove"];
    const resource = (name: string) => ({ db: "chat", collection: `turnkeep_${name}` });
    await chat.command({
      createRole: "memories",
      roles: [],
      privileges: [
        { resource: resource("memories"), actions: rows },
        { resource: resource("messages"), actions: rows },
        { resource: resource("migrations"), actions: ["find"] },
      ],
    });
    const roles = { owner: "readWrite", app: "memories", reader: "read" };
    for (const [user, role] of Object.entries(roles)) {
      await chat.command({ createUser: user, pwd: password, roles: [role] });
    }
  });
});
afterAll(() => server.stop());

function open(user: string, secret: string = password, prefix?: string): ReturnType<typeof mongoStore> {
  const url = server.url.replace(/\/\/.*@/, `//${user}:${secret}@`);
  return mongoStore({ url: `${url}chat`, prefix });
}

test("readWrite may migrate; rights on the documents alone do for all else, and for migrate() once it has run", async () => {
  const owner = open("owner", password, "other_");
  await owner.migrate();
  await owner.close();
  const store = open("app");
  await store.migrate();
  const large = (seq: number) => message(seq, JSON.stringify("x".repeat(100_000)));
  const begin = update(null, 4, { owner: "o", append: [large(1), message(2), large(3)] });
  await store.updateMessages("all", begin);
  await store.updateMessages("all", update(begin.version, 4, { move: [{ seq: 1, to: "removed" }] }));
  expect((await store.getMessages("all")).messages).toEqual([message(2), large(3)]);
  expect((await store.getHistory("all", { ids: [message(3).id] })).messages).toHaveLength(1);
  expect((await store.listMemories({ owner: "o" })).memories).toHaveLength(1);
  await store.sweep();
  await store.deleteMessages("all");
  await store.close();
});

test("a user who may only read is told so, and neither error nor cause tells the message that he sent", async () => {
  const store = open("reader");
  expect((await store.getMessages("read")).version).toBeNull();
  for (const length of [20, 20_000]) {
    const append = [message(1, JSON.stringify(`${words} ${"x".repeat(length)}`))];
    const error = await failure(() =>
      store.updateMessages("read", update(null, 2, { append, head: JSON.stringify(words) })),
    );
    expect(error).toMatchObject({ code: "STORE_REFUSED", cause: { code: 13 } });
    expect(said(error)).not.toContain(words);
  }
  await store.close();
});

test("a user who may not prepare the collections is told so by migrate()", async () => {
  for (const user of ["reader", "app"]) {
    const store = open(user, password, "unprepared_");
    await expect(store.migrate()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringContaining("readWrite"),
      cause: { code: 13 },
    });
    await store.close();
  }
});

test("a wrong password is STORE_REFUSED, and none shows anywhere", async () => {
  const store = open("app", "wr0ng");
  const error = await failure(() => store.getMessages("a"));
  expect(error).toMatchObject({ code: "STORE_REFUSED", cause: { code: 18 } });
  expect(said(error)).not.toMatch(/wr0ng|s3cret/);
  await store.close();
});
