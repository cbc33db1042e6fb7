import { partOfTheKit } from "@turnkeep/store-tests";
import { describeElsewhere, groupsElsewhere } from "./elsewhere.ts";

const program = new URL("newer-node.ts", import.meta.url);

for (const [name, kind, groups] of [
  ["SQLite in a file that the store opens, by node:sqlite", "file", groupsElsewhere],
  ["SQLite in a file, by a given node:sqlite", "node:sqlite", partOfTheKit(["basic", "lifecycle"])],
  ["SQLite in a file, by better-sqlite3", "better-sqlite3", groupsElsewhere],
] as const) {
  describeElsewhere(name, program, async () => [kind], groups);
}
