import type { ModelMessage, TokenCounter } from "@turnkeep/core";
import { startMongo } from "@turnkeep/servers";
import { mongoStore } from "@turnkeep/store-mongo";
import { MongoClient } from "mongodb";
import { conversation } from "../corpus.ts";
import { Peer } from "../peers.ts";
import {
  type Arena,
  type Contender,
  type Conversation,
  delayOf,
  delaysMs,
  type Window,
} from "./contender.ts";
import { type LangChainHistory, type LangChainMessages, langChain } from "./langchain.ts";
import { type MastraCore, type MastraStore, mastra } from "./mastra.ts";
import { byHand } from "./mongo-hand.ts";
import { ours, rowsShown } from "./ours.ts";
import { startTrafficCounter } from "./traffic.ts";

/** What is used of the peers. */
interface Histories extends LangChainMessages, MastraCore {
  readonly MongoDBChatMessageHistory: new (options: {
    collection: object;
    sessionId: string;
  }) => LangChainHistory;
  readonly MongoDBStore: new (options: {
    id: string;
    uri: string;
    dbName: string;
    disableInit: true;
  }) => MastraStore;
  /** Of the major that LangChain's history asks for. */
  readonly MongoClient: typeof MongoClient;
}

/** What every contender waits for, ours whatever the address says: the journals of a majority. */
const durable = "w=majority&journal=true";
const fillBatch = 5_000;
/** No connection but those of the contender itself may speak while traffic is counted. */
const quiet = "directConnection=true&serverMonitoringMode=poll&heartbeatFrequencyMS=1800000";

/**
 * MongoDB: a replica set of three on this machine. A standalone server would be faster for all, but nobody keeps what
 * matters on one, "majority" means nothing there, and Mastra's writes would do without their transaction.
 */
export async function startMongoArena(counter: TokenCounter): Promise<Arena> {
  const peer = new Peer("stores-mongo");
  peer.install();
  const histories = await peer.load<Histories>("histories.mjs");
  const server = await startMongo({ replicaSet: 3, log: () => {} });
  const primary = await primaryOf(server.url);
  const counted = await startTrafficCounter(primary, delaysMs);
  const direct = `${server.url}&${durable}`;
  const rows = await rowsShown(conversation(400), { tokens: 4_000 }, counter);
  const store = mongoStore({ url: direct, database: "turnkeep" });
  await store.migrate();
  await store.close();
  const setUp = new MongoClient(direct);
  await setUp.db("floor").collection("messages").createIndex({ conversation: 1, seq: 1 });
  await setUp.db("langchain").collection("memory").createIndex({ sessionId: 1 });
  await setUp.close();
  const storage = new histories.MongoDBStore(mastraOptions(direct));
  await storage.init();
  await storage.close();

  return {
    name: "MongoDB",
    bounds: { largest: 100_000, budgetMs: 1_000 },
    versions: { MongoDB: server.version, ...peer.versions() },
    async enter(way) {
      const by = (): string => counted.through(primary, delayOf(way));
      const url = way === "direct" ? direct : `${by()}?${quiet}&${durable}`;
      return [
        ours(mongoStore({ url, database: "turnkeep" }), counter),
        floor(new MongoClient(url), rows),
        byHand(new MongoClient(url), rows),
        langChainHistory(url, histories),
        await mastraStore(url, histories, counter),
      ];
    },
    traffic: counted.traffic,
    async stop() {
      await counted.stop();
      await server.stop();
    },
  };
}

async function primaryOf(url: string): Promise<string> {
  const client = new MongoClient(url);
  try {
    const { primary } = await client.db("admin").command({ hello: 1 });
    return `mongodb://${primary}/`;
  } finally {
    await client.close();
  }
}

interface Row {
  readonly conversation: string;
  readonly seq: number;
  readonly payload: string;
}

/** Rises in this process, whichever floor appends. */
let said = 0;

/** A document a message, and nothing else: no version, no check, no second writer. */
function floor(client: MongoClient, rowsOfTokens: number): Contender {
  const rows = client.db("floor").collection<Row>("messages");
  const filled = new Set<string>();
  const rowOf = (conversation: string, message: ModelMessage): Row => ({
    conversation,
    seq: said++,
    payload: JSON.stringify(message),
  });
  return {
    name: "floor",
    kind: "floor",
    async fill(name, messages) {
      if (filled.has(name)) return;
      filled.add(name);
      for (let from = 0; from < messages.length; from += fillBatch) {
        const batch = messages.slice(from, from + fillBatch);
        await rows.insertMany(batch.map((message) => rowOf(name, message)));
      }
    },
    open(name: string, window: Window): Conversation {
      const shown = "messages" in window ? window.messages : rowsOfTokens;
      const newest = (limit: number, projection: object) =>
        rows.find({ conversation: name }, { projection }).sort({ seq: -1 }).limit(limit).toArray();
      return {
        async append(message: ModelMessage) {
          await rows.insertOne(rowOf(name, message));
          return false;
        },
        async read() {
          const found = await newest(shown, { _id: 0, payload: 1 });
          return found.reverse().map(({ payload }) => JSON.parse(payload) as ModelMessage);
        },
        readUnchanged: () => newest(1, { _id: 0, seq: 1 }),
      };
    },
    close: () => client.close(),
  };
}

/**
 * One document for a session, with all of its messages: MongoDB takes 16 MB. With an index on `sessionId`, of which its
 * documentation says nothing.
 */
function langChainHistory(url: string, histories: Histories): Contender {
  const client = new histories.MongoClient(url);
  const collection = client.db("langchain").collection<{ messages: object[] }>("memory");
  return langChain(
    "@langchain/mongodb",
    histories,
    (sessionId) => new histories.MongoDBChatMessageHistory({ collection, sessionId }),
    async (sessionId, messages) => {
      for (let from = 0; from < messages.length; from += fillBatch) {
        const $each = messages.slice(from, from + fillBatch);
        await collection.updateOne({ sessionId }, { $push: { messages: { $each } } }, { upsert: true });
      }
    },
    () => client.close(),
  );
}

const mastraOptions = (uri: string) =>
  ({ id: "benchmark", uri, dbName: "mastra", disableInit: true }) as const;

async function mastraStore(url: string, histories: Histories, counter: TokenCounter): Promise<Contender> {
  const storage = new histories.MongoDBStore(mastraOptions(url));
  return mastra("@mastra/mongodb", histories, await storage.getStore("memory"), counter, () =>
    storage.close(),
  );
}
