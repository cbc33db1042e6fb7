import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { type ChatMemoryStore, keyValueStore, type ModelMessage } from "@turnkeep/core";
import { postgresStore } from "@turnkeep/store-postgres";
import { approve, type Client } from "./crash-approvals-turn.ts";
import { ask, lookAt, type Stored } from "./crash-turn.ts";

/** What one process of the test does: a turn, until it kills itself at the n-th await, or to its end. */
export interface ChildTask {
  /** Whether tools wait for the user's approval. */
  readonly isApproved: boolean;
  readonly kind: "file" | "pglite";
  readonly folder: string;
  readonly idempotent: boolean;
  /** 0: lives. */
  readonly dieAt: number;
  /** Only awaits of that name count. */
  readonly among: string;
}

export interface ChildReport {
  readonly before: Stored;
  readonly after: Stored;
  readonly text: string;
  readonly requests: ModelMessage[][];
}

/** One value a file. A process that dies while it writes leaves the old one. */
function fileStore(folder: string): ChatMemoryStore {
  const path = (key: string): string => join(folder, `${Buffer.from(key).toString("hex")}.json`);
  const read = (key: string): string | undefined =>
    existsSync(path(key)) ? readFileSync(path(key), "utf8") : undefined;
  return keyValueStore<string>({
    get: (key) => {
      const value = read(key);
      return value === undefined ? undefined : { value, revision: value };
    },
    compareAndSet: (key, value, revision) => {
      // One process at a time, and nothing else of it runs in between.
      if (read(key) !== revision) return false;
      writeFileSync(`${path(key)}.new`, value, { flush: true });
      renameSync(`${path(key)}.new`, path(key));
      return true;
    },
    delete: (key, revision) => {
      if (read(key) === undefined || (revision !== undefined && read(key) !== revision)) return false;
      rmSync(path(key));
      return true;
    },
    durable: true,
  });
}

async function open({ kind, folder }: ChildTask): Promise<ChatMemoryStore> {
  if (kind === "file") return fileStore(folder);
  return postgresStore({ client: await PGlite.create(join(folder, "database")) });
}

const task = JSON.parse(process.argv[2] as string) as ChildTask;
const store = await open(task);
const before = await lookAt(store);
const requests: ModelMessage[][] = [];
let awaits = 0;
const clientPath = join(task.folder, "client.json");
const client: Client = existsSync(clientPath) ? JSON.parse(readFileSync(clientPath, "utf8")) : { decided: 0 };
const { text } = await (task.isApproved ? approve : ask)({
  store,
  requests,
  idempotent: task.idempotent,
  isShaped: true,
  // The next process waits for as long.
  leaseMs: task.dieAt > 0 ? 1000 : 60_000,
  onRun: (id) => appendFileSync(join(task.folder, "runs"), `${id}\n`, { flush: true }),
  tick: async (what) => {
    if (!new RegExp(task.among).test(what) || ++awaits !== task.dieAt) return;
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => undefined);
  },
  client,
  onAnswer: () => writeFileSync(clientPath, JSON.stringify(client), { flush: true }),
});
const report: ChildReport = { before, after: await lookAt(store), text, requests };
process.stdout.write(JSON.stringify(report), () => process.exit(0));
