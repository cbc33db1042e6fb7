import { readFileSync } from "node:fs";
import { PGlite } from "@electric-sql/pglite";
import { conformanceGroups } from "@turnkeep/conformance";
import { describeConformance } from "@turnkeep/conformance/vitest";
import { createChatMemory, user } from "@turnkeep/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { myStore, schema } from "../src/my-store.ts";
import { schema as ownSchema, ownStore } from "../src/own-methods.ts";

const database = new PGlite();
beforeAll(() => database.exec(`${schema}; ${ownSchema}`));
afterAll(() => database.close());

describeConformance(
  "my store",
  {
    create: ({ ttlMs }) => myStore(database, { ttlMs }),
    given: () => ({ store: myStore(database), isOpen: () => !database.closed }),
  },
  // Ids are digits here, each owner's list looks at all memories, lives are waited for, and the database is compiled to
  // WebAssembly: these take longer than all others. In the thorough run.
  {
    groups: conformanceGroups.filter(
      (group) => process.env.TURNKEEP_THOROUGH || !["ids", "list", "sizes", "ttl"].includes(group),
    ),
  },
);

// What only rewrites as the other does, and takes as long, is not tried twice.
describeConformance(
  "own methods",
  {
    create: () => ownStore(database),
    given: () => ({ store: ownStore(database), isOpen: () => !database.closed }),
  },
  {
    groups: [
      "basic",
      "order",
      "versions",
      "replay",
      "states",
      "ids",
      "payloads",
      "isolation",
      "errors",
      "lifecycle",
    ],
  },
);

test.each([myStore, ownStore])("a memory over it keeps what was added", async (store) => {
  const add = createChatMemory({ id: "chat-1", store: store(database) });
  await add.add(user("Hello"));
  const read = createChatMemory({ id: "chat-1", store: store(database) });
  expect(await read.messages()).toEqual([user("Hello")]);
});

test.each([
  ["my-store", 45],
  ["own-methods", 115],
])("%s has %i lines or fewer", (name, most) => {
  const source = readFileSync(new URL(`../src/${name}.ts`, import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(most);
});
