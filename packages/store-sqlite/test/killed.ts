import type { ChatMemoryStore, MemoryUpdate } from "@turnkeep/core";
import Database from "libsql";
import { type SqliteDatabase, sqliteStore } from "../src/index.ts";

/** What a process does that kills itself before the statement of that number; `begin` and `commit` are statements too. */
export interface KilledTask {
  readonly file: string;
  readonly statement: number;
  readonly call:
    | { readonly kind: "migrate" | "sweep" }
    | { readonly kind: "update"; readonly memoryId: string; readonly update: MemoryUpdate }
    | { readonly kind: "delete"; readonly memoryId: string };
}

const { file, statement, call } = JSON.parse(process.argv[2] ?? "") as KilledTask;

let count = 0;
function live(): void {
  if (++count === statement) process.kill(process.pid, "SIGKILL");
}

const database = new Database(file);
const counted: SqliteDatabase = {
  exec(sql) {
    live();
    return database.exec(sql);
  },
  prepare(sql) {
    const prepared = database.prepare(sql);
    return {
      reader: prepared.reader,
      all(...values) {
        live();
        return prepared.all(...values);
      },
      run(...values) {
        live();
        return prepared.run(...values);
      },
    };
  },
};

const store: ChatMemoryStore & { migrate(): Promise<void> } = sqliteStore({ client: counted });
if (call.kind === "update") await store.updateMessages(call.memoryId, call.update);
else if (call.kind === "delete") await store.deleteMessages(call.memoryId);
else await store[call.kind]();
console.log("done");
