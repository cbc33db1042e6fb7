import type { ConformanceGroup } from "@turnkeep/conformance";
import { describeElsewhere } from "./elsewhere.ts";

const program = new URL("newer-node.ts", import.meta.url);

// The same engine: what may differ is how a driver sends and answers. All groups: see CONTRIBUTING.md.
const ofAnotherDriver: readonly ConformanceGroup[] | undefined = process.env.TURNKEEP_THOROUGH
  ? undefined
  : ["basic", "atomicity", "versions", "replay", "lifecycle"];

const ofGivenNode: readonly ConformanceGroup[] | undefined = ofAnotherDriver && ["basic", "lifecycle"];

for (const [name, kind, groups] of [
  ["SQLite in a file that the store opens, by node:sqlite", "file", ofAnotherDriver],
  ["SQLite in a file, by a given node:sqlite", "node:sqlite", ofGivenNode],
  ["SQLite in a file, by better-sqlite3", "better-sqlite3", ofAnotherDriver],
] as const) {
  describeElsewhere(name, program, async () => [kind], groups);
}
