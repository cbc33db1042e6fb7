import { randomUUID } from "node:crypto";
import type { ModelMessage } from "@turnkeep/core";
import type { MongoClient } from "mongodb";
import type { Contender, Conversation, Window } from "./contender.ts";

interface Entry {
  readonly id: string;
  readonly createdAt: number;
  readonly payload: string;
  readonly meta: string;
}

/** A conversation, with its newest messages in the order of their seqs. */
interface Head {
  readonly _id: string;
  readonly version: string;
  readonly next: number;
  /** The seq of the first message in `newest`. */
  readonly first: number;
  readonly newest: readonly Entry[];
  readonly updatedAt: Date;
}

/** Messages that have left the head, from the seq in the key on. */
interface Batch {
  readonly _id: { readonly conversation: string; readonly first: number };
  readonly entries: readonly Entry[];
}

/** How many messages leave a head at once, the oldest. */
const leaving = 50;

const meta = '{"tokens":{"o200k_base":100}}';

/**
 * What our store promises of a message, written by hand in one conditional update of one document: it is stored with its id,
 * time and count under a new version, if the one before is still in place, and a read sees what others wrote. No check of what
 * is given, no window. The document holds the newest messages; one append in 50 moves older ones into a document beside it.
 */
export function byHand(client: MongoClient, rowsOfTokens: number): Contender {
  const database = client.db("hand");
  const heads = database.collection<Head>("heads");
  const older = database.collection<Batch>("older");
  const most = Math.max(20, rowsOfTokens) + leaving;
  const filled = new Set<string>();
  const entryOf = (message: ModelMessage): Entry => ({
    ...{ id: randomUUID(), createdAt: Date.now(), payload: JSON.stringify(message), meta },
  });
  return {
    name: "the same by hand",
    kind: "hand",
    async fill(name, messages) {
      if (filled.has(name)) return;
      filled.add(name);
      const entries = messages.map(entryOf);
      const batches: Batch[] = [];
      let first = 1;
      for (; entries.length - first >= most; first += leaving) {
        const batch = entries.slice(first - 1, first - 1 + leaving);
        batches.push({ _id: { conversation: name, first }, entries: batch });
      }
      if (batches.length > 0) await older.insertMany(batches);
      const head = { version: "first", next: entries.length + 1, first, newest: entries.slice(first - 1) };
      await heads.insertOne({ _id: name, ...head, updatedAt: new Date() });
    },
    open(name: string, window: Window): Conversation {
      const rows = "messages" in window ? window.messages : rowsOfTokens;
      let version: string | null = null;
      let [next, first] = [1, 1];
      let shown: readonly ModelMessage[] = [];
      /** The head, and its messages unless the version is known. */
      async function look(): Promise<readonly ModelMessage[]> {
        const isKnown = { $eq: ["$version", { $literal: version }] };
        const newest = { $cond: [isKnown, "$$REMOVE", { $slice: ["$newest", -rows] }] };
        const head = await heads.findOne(
          { _id: name },
          { projection: { version: 1, next: 1, first: 1, newest } },
        );
        if (head === null || head.version === version) return shown;
        ({ version, next, first } = head);
        shown = head.newest.map(({ payload }) => JSON.parse(payload));
        return shown;
      }
      /** What an append changes in the messages of the head. */
      async function changeOf(entry: Entry): Promise<Partial<Head>> {
        if (next - first < most) return { [`newest.${next - first}`]: entry };
        const head = await heads.findOne({ _id: name, version: version ?? "" });
        if (head === null) return {};
        // Whoever moves messages from that seq on moves the same ones.
        const _id = { conversation: name, first };
        await older.replaceOne({ _id }, { entries: head.newest.slice(0, leaving) }, { upsert: true });
        return { first: first + leaving, newest: [...head.newest.slice(leaving), entry] };
      }
      return {
        async append(message) {
          for (;;) {
            if (version === null) await look();
            const made = randomUUID();
            const change = await changeOf(entryOf(message));
            const { matchedCount } = await heads.updateOne(
              { _id: name, version: version ?? "" },
              { $set: { version: made, next: next + 1, ...change }, $currentDate: { updatedAt: true } },
            );
            if (matchedCount === 1) {
              version = made;
              next++;
              first = change.first ?? first;
              shown = [...shown, message].slice(-rows);
              return false;
            }
            version = null;
          }
        },
        read: look,
      };
    },
    close: () => client.close(),
  };
}
