import { readFileSync } from "node:fs";
import { PGlite } from "@electric-sql/pglite";
import { describeConformance } from "@turnkeep/conformance/vitest";
import { createChatMemory, user } from "@turnkeep/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { myStore, schema } from "../src/my-store.ts";

const database = new PGlite();
beforeAll(() => database.exec(schema));
afterAll(() => database.close());

describeConformance("my store", {
  create: ({ ttlMs }) => myStore(database, { ttlMs }),
  given: () => ({ store: myStore(database), isOpen: () => !database.closed }),
});

test("a memory over it keeps what was added", async () => {
  const add = createChatMemory({ id: "chat-1", store: myStore(database) });
  await add.add(user("Hello"));
  const read = createChatMemory({ id: "chat-1", store: myStore(database) });
  expect(await read.messages()).toEqual([user("Hello")]);
});

test("it has 40 lines or fewer", () => {
  const source = readFileSync(new URL("../src/my-store.ts", import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
});
