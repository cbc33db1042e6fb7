import { createClient } from "@libsql/client";
import { describeConformance } from "@turnkeep/conformance/vitest";
import { driverGroups, partOfTheKit } from "@turnkeep/store-tests";
import { afterAll } from "vitest";
import { harnessOver } from "./harness.ts";
import { connectionsTo, newFile, openLibsql } from "./support.ts";

const open = connectionsTo(newFile());
describeConformance("SQLite in a file, by libsql", harnessOver(open));

// The same engine.
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
  { groups: partOfTheKit(driverGroups) },
);

const inMemory = openLibsql(":memory:");
afterAll(() => inMemory.close());
// What differs is what survives.
describeConformance(
  "SQLite in memory, by one connection that all stores share",
  harnessOver(() => inMemory),
  { groups: ["basic", "versions", "lifecycle"] },
);
