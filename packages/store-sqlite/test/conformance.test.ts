import { createClient } from "@libsql/client";
import { describeConformance } from "@turnkeep/conformance/vitest";
import { afterAll } from "vitest";
import { harnessOver } from "./harness.ts";
import { connectionsTo, newFile, openLibsql } from "./support.ts";

const open = connectionsTo(newFile());
describeConformance("SQLite in a file, by libsql", harnessOver(open));

// The same engine: what may differ is how a driver sends and answers. All groups: see CONTRIBUTING.md.
const ofAnotherDriver = process.env.TURNKEEP_THOROUGH
  ? undefined
  : (["basic", "versions", "replay", "payloads"] as const);

const file = newFile();
openLibsql(file).close();
const clients = [1, 2].map(() => createClient({ url: `file:${file}` }));
afterAll(() => {
  for (const client of clients) client.close();
});
let used = 0;
describeConformance(
  "SQLite in a file, by @libsql/client",
  harnessOver(() => clients[used++ % clients.length] as (typeof clients)[number]),
  { groups: ofAnotherDriver },
);

const inMemory = openLibsql(":memory:");
afterAll(() => inMemory.close());
// What differs is what survives.
describeConformance(
  "SQLite in memory, by one connection that all stores share",
  harnessOver(() => inMemory),
  { groups: ["basic", "versions", "lifecycle"] },
);
