import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { newerNode } from "@turnkeep/servers";
import { bundled } from "@turnkeep/store-tests/processes";
import { expect, test } from "vitest";
import { newFile } from "./support.ts";

// What the store does with a file of its own, in a Node that has node:sqlite.
test("a store opens a file at its first call, waits for others, and tells what it cannot open", async () => {
  const program = await bundled(new URL("own-file.ts", import.meta.url));
  const file = newFile();
  const folder = dirname(file);
  writeFileSync(
    join(folder, "text.db"),
    "This is no database, but a text that is long enough to be read as one.",
  );
  const { stdout } = await promisify(execFile)(newerNode(), ["--no-warnings", program, file]);
  expect(JSON.parse(stdout)).toEqual({
    untouched: true,
    mode: "wal",
    conflictOf: "VERSION_CONFLICT",
    whileHeld: null,
    waited: ["m1"],
    aborted: "ABORTED",
    written: null,
    missingFolder: "STORE_REFUSED",
    openedLater: null,
    // close() has waited for it.
    swept: { removed: 150 },
    notADatabase: "STORE_REFUSED",
    closed: "CLOSED",
  });
  expect(readFileSync(file).subarray(0, 15).toString()).toBe("SQLite format 3");
});
