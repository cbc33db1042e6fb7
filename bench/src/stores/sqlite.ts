import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelMessage, TokenCounter } from "@turnkeep/core";
import { sqliteStore } from "@turnkeep/store-sqlite";
import Database from "libsql";
import { conversation } from "../corpus.ts";
import { Peer } from "../peers.ts";
import type { Arena, Contender, Conversation, Way, Window } from "./contender.ts";
import { type MastraCore, type MastraStore, mastra } from "./mastra.ts";
import { ours, rowsShown } from "./ours.ts";

interface Histories extends MastraCore {
  readonly LibSQLStore: new (config: { id: string; url: string }) => MastraStore;
}

/**
 * SQLite in the process, with a log that is on disk before it answers, but for Mastra's, which asks for `synchronous = normal`.
 * Everybody has a file: a checkpoint falls on who wrote.
 */
export async function startSqliteArena(counter: TokenCounter): Promise<Arena> {
  const peer = new Peer("stores-sqlite");
  peer.install();
  const histories = await peer.load<Histories>("histories.mjs");
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-bench-"));
  const files = {
    ours: join(folder, "ours.db"),
    floor: join(folder, "floor.db"),
    mastra: join(folder, "mastra.db"),
  };
  const own = openFile(files.ours);
  const store = sqliteStore({ client: own });
  await store.migrate();
  own.close();
  const bare = openFile(files.floor);
  bare.exec(
    "create table floor (conversation text, seq integer, payload text, primary key (conversation, seq))",
  );
  const { version } = bare.prepare("select sqlite_version() as version").get() as { version: string };
  bare.close();
  const rows = await rowsShown(conversation(400), { tokens: 4_000 }, counter);
  const nextSeqs = new Map<string, number>();

  return {
    name: "SQLite",
    unsynced: true,
    versions: { SQLite: version, ...peer.versions() },
    async enter(way) {
      const client = openFile(files.ours, way);
      const contender = ours(sqliteStore({ client }), counter);
      return [
        {
          ...contender,
          async close() {
            await contender.close();
            client.close();
          },
        },
        floor(openFile(files.floor, way), nextSeqs, rows),
        await mastraStore(files.mastra, histories, counter),
      ];
    },
    async settle() {
      // Not Mastra's: it has a copy of SQLite of its own, and two in a process free each other's locks of a file.
      for (const file of [files.ours, files.floor]) {
        const database = openFile(file);
        database.exec("pragma wal_checkpoint(truncate)");
        database.close();
      }
    },
    async stop() {
      rmSync(folder, { recursive: true });
    },
  };
}

function openFile(file: string, way: Way = "direct"): Database.Database {
  const database = new Database(file);
  database.exec("pragma journal_mode = wal");
  database.exec(`pragma synchronous = ${way === "unsynced" ? "off" : "full"}`);
  return database;
}

/** One row a message behind its key, and nothing else: no version, no check, no second writer. Statements are prepared once. */
function floor(database: Database.Database, nextSeqs: Map<string, number>, rowsOfTokens: number): Contender {
  const insert = database.prepare("insert into floor (conversation, seq, payload) values (?, ?, ?)");
  const newest = database.prepare(
    "select payload from floor where conversation = ? order by seq desc limit ?",
  );
  const version = database.prepare("select max(seq) as seq from floor where conversation = ?");
  const add = (name: string, message: ModelMessage): void => {
    const seq = nextSeqs.get(name) ?? 1;
    nextSeqs.set(name, seq + 1);
    insert.run(name, seq, JSON.stringify(message));
  };
  return {
    name: "floor",
    kind: "floor",
    async fill(name, messages) {
      if (nextSeqs.has(name)) return;
      database.transaction(() => {
        for (const message of messages) add(name, message);
      })();
    },
    open(name: string, window: Window): Conversation {
      const rows = "messages" in window ? window.messages : rowsOfTokens;
      return {
        async append(message: ModelMessage) {
          add(name, message);
          return false;
        },
        async read() {
          const found = newest.all(name, rows) as { payload: string }[];
          return found.map(({ payload }) => JSON.parse(payload) as ModelMessage).reverse();
        },
        readUnchanged: async () => version.get(name),
      };
    },
    async close() {
      database.close();
    },
  };
}

async function mastraStore(file: string, histories: Histories, counter: TokenCounter): Promise<Contender> {
  const storage = new histories.LibSQLStore({ id: "benchmark", url: `file:${file}` });
  await storage.init();
  return mastra("@mastra/libsql", histories, await storage.getStore("memory"), counter, () =>
    storage.close(),
  );
}
