import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createClient } from "@libsql/client";
import { newerNode } from "@turnkeep/servers";
import { message } from "@turnkeep/store-tests";
import { bundled } from "@turnkeep/store-tests/processes";
import { describe, expect, onTestFinished, test } from "vitest";
import { toldBy } from "./integers.ts";
import { newFile, openLibsql } from "./support.ts";

const told = {
  memory: {
    version: "v2",
    nextSeq: 4,
    owner: "ann",
    messages: [message(1, '"new"'), message(3)],
  },
  refusal: expect.stringMatching(/"m2".* at seq 2/),
  history: {
    messages: [
      { ...message(1, '"new"'), state: "live" },
      { ...message(2), state: "evicted" },
      { ...message(3), state: "live" },
    ],
    hasMore: false,
  },
  ids: [2],
  times: ["number"],
  newest: ["a"],
  swept: { removed: 0 },
};

describe("a client's integers may be", () => {
  test.each(["number", "bigint", "string"] as const)("each a %s, of @libsql/client", async (intMode) => {
    const client = createClient({ url: `file:${newFile()}`, intMode });
    onTestFinished(() => client.close());
    expect(await toldBy(client)).toEqual(told);
  });

  test("bigints of libsql", async () => {
    const client = openLibsql(":memory:").defaultSafeIntegers();
    onTestFinished(() => void client.close());
    expect(await toldBy(client)).toEqual(told);
  });

  test("bigints of node:sqlite and better-sqlite3", async () => {
    const program = await bundled(new URL("integers-newer-node.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(newerNode(), ["--no-warnings", program]);
    expect(JSON.parse(stdout)).toEqual([told, told]);
  });
});
