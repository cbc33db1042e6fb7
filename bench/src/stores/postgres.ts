import type { ModelMessage, TokenCounter } from "@turnkeep/core";
import { startPostgres } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import pg from "pg";
import { conversation } from "../corpus.ts";
import { Peer } from "../peers.ts";
import {
  type Arena,
  type Contender,
  type Conversation,
  delayOf,
  delaysMs,
  type Way,
  type Window,
} from "./contender.ts";
import type { Written } from "./count-written.ts";
import { type LangChainHistory, type LangChainMessages, langChain } from "./langchain.ts";
import { type MastraCore, type MastraStore, mastra } from "./mastra.ts";
import { ours, rowsShown } from "./ours.ts";
import { byHand, handPrefix } from "./postgres-hand.ts";
import { startTrafficCounter } from "./traffic.ts";

interface Histories extends LangChainMessages, MastraCore {
  readonly PostgresChatMessageHistory: new (fields: { sessionId: string; pool: pg.Pool }) => LangChainHistory;
  readonly PostgresStore: new (config: { id: string; pool: pg.Pool }) => MastraStore;
}

/** Postgres with its own settings, which write to disk before they answer. Everybody has a pool of ten connections. */
export async function startPostgresArena(counter: TokenCounter): Promise<Arena> {
  const peer = new Peer("stores-postgres");
  peer.install();
  const histories = await peer.load<Histories>("histories.mjs");
  const server = await startPostgres({ log: () => {} });
  const counted = await startTrafficCounter(server.url, delaysMs);
  const own = openPool(server.url);
  for (const prefix of [undefined, handPrefix]) {
    const store = postgresStore({ url: server.url, prefix });
    await store.migrate();
    await store.close();
  }
  await own.query(
    "create table floor (conversation text, seq bigint, payload text not null, primary key (conversation, seq))",
  );
  const rows = await rowsShown(conversation(400), { tokens: 4_000 }, counter);
  const nextSeqs = new Map<string, number>();
  function addressOf(way: Way): string {
    if (way === "direct") return server.url;
    if (way === "unsynced") return withOption(server.url, "synchronous_commit=off");
    return counted.through(server.url, delayOf(way));
  }

  return {
    name: "Postgres",
    unsynced: true,
    versions: { Postgres: server.version, ...peer.versions() },
    async enter(way) {
      const url = addressOf(way);
      const pool = openPool(url);
      return [
        ours(postgresStore({ url }), counter),
        floor(openPool(url), nextSeqs, rows),
        byHand(openPool(url), rows),
        langChainHistory(openPool(url), histories),
        await mastraStore(pool, histories, counter),
      ];
    },
    traffic: counted.traffic,
    async written(run) {
      const before = await bytesIn(own);
      await run();
      // Frees what has been replaced, which the next rows would fill.
      await own.query("vacuum");
      const after = await bytesIn(own);
      return { log: after.log - before.log, disk: after.disk - before.disk };
    },
    async settle() {
      await own.query("vacuum analyze");
      await own.query("checkpoint");
    },
    async stop() {
      await own.end();
      await counted.stop();
      await server.stop();
    },
  };
}

async function bytesIn(pool: pg.Pool): Promise<Written> {
  const { rows } = await pool.query<{ log: string; disk: string }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as log, sum(pg_total_relation_size(oid)) as disk
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  return { log: Number(rows[0]?.log), disk: Number(rows[0]?.disk) };
}

function withOption(url: string, option: string): string {
  const address = new URL(url);
  address.searchParams.set("options", `-c ${option}`);
  // The driver reads a plus sign as itself.
  return address.href.replaceAll("+", "%20");
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString });
  pool.on("error", () => {});
  return pool;
}

/**
 * One row a message behind its key, and nothing else: no version, no check, no second writer. Its statements are prepared
 * once a connection, as ours are.
 */
function floor(pool: pg.Pool, nextSeqs: Map<string, number>, rowsOfTokens: number): Contender {
  const insert = "insert into floor (conversation, seq, payload) values ($1, $2, $3)";
  const newest = "select payload from floor where conversation = $1 order by seq desc limit $2";
  const version = "select seq from floor where conversation = $1 order by seq desc limit 1";
  const seqFor = (name: string): number => {
    const seq = nextSeqs.get(name) ?? 1;
    nextSeqs.set(name, seq + 1);
    return seq;
  };
  return {
    name: "floor",
    kind: "floor",
    async fill(name, messages) {
      if (nextSeqs.has(name)) return;
      nextSeqs.set(name, messages.length + 1);
      await pool.query(
        "insert into floor select $1, place, payload from unnest($2::text[]) with ordinality as given (payload, place)",
        [name, messages.map((message) => JSON.stringify(message))],
      );
    },
    open(name: string, window: Window): Conversation {
      const rows = "messages" in window ? window.messages : rowsOfTokens;
      return {
        async append(message: ModelMessage) {
          await pool.query({
            name: "insert",
            text: insert,
            values: [name, seqFor(name), JSON.stringify(message)],
          });
          return false;
        },
        async read() {
          const result = await pool.query<{ payload: string }>({
            name: "newest",
            text: newest,
            values: [name, rows],
          });
          return result.rows.map(({ payload }) => JSON.parse(payload) as ModelMessage).reverse();
        },
        readUnchanged: () => pool.query({ name: "version", text: version, values: [name] }),
      };
    },
    close: () => pool.end(),
  };
}

function langChainHistory(pool: pg.Pool, histories: Histories): Contender {
  const historyOf = (sessionId: string): LangChainHistory =>
    new histories.PostgresChatMessageHistory({ sessionId, pool });
  return langChain(
    "@langchain/community",
    histories,
    historyOf,
    async (sessionId, stored) => {
      // It makes its table when it is first used.
      await historyOf(sessionId).getMessages();
      await pool.query(
        "insert into langchain_chat_histories (session_id, message) select $1, given::jsonb from unnest($2::text[]) as given",
        [sessionId, stored.map(({ type, data }) => JSON.stringify({ ...data, type }))],
      );
    },
    () => pool.end(),
  );
}

async function mastraStore(pool: pg.Pool, histories: Histories, counter: TokenCounter): Promise<Contender> {
  const storage = new histories.PostgresStore({ id: "benchmark", pool });
  await storage.init();
  return mastra("@mastra/pg", histories, await storage.getStore("memory"), counter, async () => {
    await storage.close();
    await pool.end();
  });
}
