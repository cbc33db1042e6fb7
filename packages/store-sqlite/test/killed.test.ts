import { spawn } from "node:child_process";
import { once } from "node:events";
import { message, messages, update } from "@turnkeep/store-tests";
import { bundled } from "@turnkeep/store-tests/processes";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { queryOf } from "./harness.ts";
import type { KilledTask } from "./killed.ts";
import { connectionsTo, newFile } from "./support.ts";

/** Each place costs a process: the usual run has every third of them. */
const step = process.env.TURNKEEP_THOROUGH ? 1 : 3;

let program: string;
beforeAll(async () => {
  program = await bundled(new URL("killed.ts", import.meta.url));
});

/** Whether the call was done before the process came to that statement. */
async function run(task: KilledTask): Promise<boolean> {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  const [code, signal] = await once(child, "close");
  if (printed === "done\n" && code === 0) return true;
  expect(signal).toBe("SIGKILL");
  return false;
}

/** Kills the call before its statements, one process each, until it is done; `check` looks after each of them. */
async function killAtEach(
  file: string,
  call: (n: number) => Promise<KilledTask["call"]>,
  check: (n: number, done: boolean) => Promise<void>,
): Promise<void> {
  for (let n = 1; ; n += step) {
    const done = await run({ file, statement: n, call: await call(n) });
    await check(n, done);
    if (done) return expect(n).toBeGreaterThan(step);
  }
}

const file = newFile();
const open = connectionsTo(file);
const store = sqliteStore({ client: open() });
beforeEach(() => store.migrate());

test("migrate(), killed before any of its statements, leaves what the next one completes", async () => {
  const other = newFile();
  await killAtEach(
    other,
    async () => ({ kind: "migrate" }),
    async () => {},
  );
  const fresh = sqliteStore({ client: connectionsTo(other)() });
  await fresh.migrate();
  await fresh.updateMessages("a", update(null, 2, { append: [message(1)] }));
  expect((await fresh.getMessages("a")).messages).toEqual([message(1)]);
});

test("a beginning, killed before any of its statements, is there whole or not at all, and can be repeated", async () => {
  const begin = update(null, 4, {
    owner: "o",
    head: "1",
    append: messages(1, 3),
    move: [{ seq: 1, to: "evicted" }],
  });
  await killAtEach(
    file,
    async (n) => ({ kind: "update", memoryId: `begun ${n}`, update: begin }),
    async (n) => {
      const { version, messages: live } = await store.getMessages(`begun ${n}`);
      expect([null, begin.version]).toContain(version);
      expect(live).toEqual(version === null ? [] : messages(2, 3));
      await store.updateMessages(`begun ${n}`, begin);
      expect((await store.getMessages(`begun ${n}`)).messages).toEqual(messages(2, 3));
      expect((await store.getHistory(`begun ${n}`, {})).messages).toHaveLength(3);
    },
  );
});

test("a change of every kind, killed before any of its statements, is there whole or not at all", async () => {
  const begin = update(null, 7, { append: messages(1, 6) });
  const change = update(begin.version, 8, {
    head: "2",
    append: [message(7)],
    replace: [message(5, '"new"')],
    move: [
      { seq: 1, to: "evicted" },
      { seq: 2, to: "superseded" },
      { seq: 3, to: "removed" },
    ],
  });
  const before = [1, 2, 3, 4, 5, 6].map((seq) => `${seq} live`);
  const after = ["1 evicted", "2 superseded", ...[4, 5, 6, 7].map((seq) => `${seq} live`)];
  await killAtEach(
    file,
    async (n) => {
      await store.updateMessages(`changed ${n}`, begin);
      return { kind: "update", memoryId: `changed ${n}`, update: change };
    },
    async (n) => {
      const seen = async (): Promise<string[]> =>
        (await store.getHistory(`changed ${n}`, {})).messages.map(({ seq, state }) => `${seq} ${state}`);
      const { version } = await store.getMessages(`changed ${n}`);
      expect(await seen()).toEqual(version === change.version ? after : before);
      await store.updateMessages(`changed ${n}`, change);
      expect(await seen()).toEqual(after);
      expect((await store.getMessages(`changed ${n}`)).messages[1]?.payload).toBe('"new"');
    },
  );
});

test("a delete and a sweep, killed before any of their statements, leave a whole memory or nothing of it", async () => {
  const begin = update(null, 4, { append: messages(1, 3) });
  const query = queryOf(open());
  for (const kind of ["delete", "sweep"] as const) {
    await killAtEach(
      file,
      async (n) => {
        await store.updateMessages(`${kind} ${n}`, begin);
        if (kind === "sweep")
          await query("update turnkeep_memories set expires_at = 1 where memory_id = ?", `${kind} ${n}`);
        return { kind, memoryId: `${kind} ${n}` };
      },
      async (n) => {
        const left = await query<{ messages: number; live: number }>(
          `select (select count(*) from turnkeep_messages m where m.memory_key = h.memory_key) as messages,
             (select count(*) from turnkeep_live l where l.memory_key = h.memory_key) as live
           from turnkeep_memories h where h.memory_id = ?`,
          `${kind} ${n}`,
        );
        for (const row of left) expect(row).toEqual({ messages: 3, live: 3 });
        const orphans =
          "select count(*) as count from turnkeep_messages where memory_key not in (select memory_key from turnkeep_memories)";
        expect(await query(orphans)).toEqual([{ count: 0 }]);
      },
    );
  }
});
