import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type {
  CallOptions,
  ChatMemoryStore,
  MemorySnapshot,
  StoreCapabilities,
  StoredMessage,
} from "@turnkeep/core";
import {
  checkMemoryId,
  checkUpdate,
  conflictError,
  copyUpdate,
  corruptError,
  decodeCursor,
  type ListedMemory,
  lifecycle,
  listPage,
  normalizeHistoryQuery,
  normalizeListQuery,
  throwIfAborted,
} from "@turnkeep/core/store-kit";
import { connect, type Item, type Run, type Statement, storeName } from "./client.ts";
import { type Head, headOf, headOfNone, isPresent } from "./heads.ts";
import { Items, number, type Page, shards, text } from "./items.ts";
import { migrate } from "./migrations.ts";
import { type DynamoStoreOptions, normalizeOptions } from "./options.ts";
import { inTurn, Reads } from "./reads.ts";
import { Staging } from "./staging.ts";
import { Updates } from "./updates.ts";

/** A store in DynamoDB. */
export interface DynamoStore extends ChatMemoryStore {
  /**
   * Creates the table, billed on demand, waits until it is active, and turns its expiry (TTL) on. Safe to run twice, and
   * by several processes at once. A table that is there is checked: its keys, and whether its expiry is on.
   *
   * Errors: `INVALID_OPTION` if the table has other keys than the options say, or another attribute of expiry;
   * `STORE_UNAVAILABLE`, `ABORTED`, `CLOSED`.
   */
  migrate(options?: CallOptions): Promise<void>;
}

/** How often a read that met an update is repeated before the record is called corrupt. */
const readsOfOneVersion = 6;

/** A staged update that is older is not being written any more. */
const isLeftBehindAfterMs = 60 * 60 * 1000;

/** How many memories the store remembers the heads of, so that an update need not ask for what was just read. */
const remembered = 1_000;

const batch = 100;

/**
 * Keeps memories in DynamoDB, over the AWS SDK 3, in a table that `migrate()` creates or in one that is there. A memory
 * is one partition. An ordinary update is one conditional put of its head, which holds the newest messages; now and then
 * one transaction moves them into rows. What is above 32 KB is written first, and appears at once all the same. The
 * factory does no I/O.
 *
 * A message may have 16 MiB. `signal` ends the wait at once; what the database was already sent may still take effect.
 * DynamoDB has no clock that a write could ask: expiry goes by the clock of the process that writes or reads.
 *
 * Errors: `INVALID_OPTION` from the factory; in calls what the store contract names, `STORE_NOT_READY` before
 * `migrate()`, and `STORE_UNAVAILABLE` with the driver's error as `cause`, also when the database throttles for long.
 *
 * @example
 * ```ts
 * import { createChatMemory, user } from "@turnkeep/core";
 * import { dynamoStore } from "@turnkeep/store-dynamo";
 *
 * const store = dynamoStore({ config: { region: "eu-central-1" } });
 * await store.migrate();
 * const memory = createChatMemory({ id: "user-1/chat-1", store });
 * await memory.add(user("Hello"));
 * await store.close();
 * ```
 */
export function dynamoStore(options: DynamoStoreOptions): DynamoStore {
  const { connection: place, table, ttlMs } = normalizeOptions(options);
  const items = new Items(table);
  const reads = new Reads(items);
  const staging = new Staging(items, reads);
  const updates = new Updates(items, reads, staging, ttlMs);
  const { enter, close } = lifecycle(storeName, connect(place));
  const capabilities: StoreCapabilities = Object.freeze({
    durable: true,
    shared: true,
    history: true,
    list: true,
    ttl: true,
    delta: true,
    readSteps: 2,
    maxMessageBytes: 16 * 1024 * 1024,
  });
  const bases = new Map<string, Head>();

  function remember(memoryId: string, head: Head): void {
    bases.delete(memoryId);
    bases.set(memoryId, head);
    for (const oldest of bases.keys()) {
      if (bases.size <= remembered) break;
      bases.delete(oldest);
    }
  }

  /** The head of a memory that is there. */
  async function look(run: Run, memoryId: string): Promise<Head | undefined> {
    const head = await reads.head(run, memoryId);
    return head !== undefined && isPresent(head) ? head : undefined;
  }

  return {
    capabilities,

    async migrate(callOptions) {
      await migrate(enter(callOptions), table, callOptions?.signal);
    },

    async getMessages(memoryId, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      let version: string | undefined;
      for (let tries = 1; ; tries++) {
        const head = await look(run, memoryId);
        if (head === undefined) return { version: null, nextSeq: 1, messages: [] };
        if (head.version === callOptions?.known) {
          remember(memoryId, head);
          return { ...snapshotOf(head, []), unchanged: true };
        }
        if (head.version !== version) tries = 1;
        version = head.version;
        const messages = await reads.liveMessages(run, memoryId, head);
        if (typeof messages === "object") {
          remember(memoryId, head);
          return snapshotOf(head, messages);
        }
        if (tries === readsOfOneVersion)
          throw corruptError(memoryId, `its live message at seq ${messages} is not there`);
        // The update that was met is being applied; each item by itself.
        await delay(Math.random() * 10 * 2 ** tries);
        throwIfAborted(callOptions?.signal);
      }
    },

    async updateMessages(memoryId, update, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      checkUpdate(update, capabilities);
      const change = copyUpdate(update);
      let base = bases.get(memoryId);
      if (change.expected === null) {
        const life = randomBytes(12).toString("base64url");
        base = headOfNone(life, change.owner);
      } else if (base?.version !== change.expected) {
        const head = await look(run, memoryId);
        if (head !== undefined) remember(memoryId, head);
        if (head?.version === change.version) return;
        if (head?.version !== change.expected) throw conflictError(memoryId, change.expected);
        base = head;
      }
      const outcome = await updates.apply(run, memoryId, change, base);
      if (outcome !== undefined) return remember(memoryId, outcome);
      const head = await look(run, memoryId);
      if (head?.version !== change.version) throw conflictError(memoryId, change.expected);
      remember(memoryId, head);
    },

    async deleteMessages(memoryId, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      bases.delete(memoryId);
      const key = items.headKey(memoryId);
      const { Item: item } = await run(items.get(key));
      if (item === undefined) return;
      // By its life: a delete that is late, or sent twice, must not meet the next memory of that id.
      const [life = "", owner] = [text(item.life), text(item.owner)];
      await staging.end(
        run,
        memoryId,
        { life, owner },
        items.delete(key, { expression: "life = :life", values: { ":life": { S: life } } }),
      );
    },

    async getHistory(memoryId, query, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      const normal = normalizeHistoryQuery(query);
      const head = await look(run, memoryId);
      if (head === undefined) return { messages: [], hasMore: false };
      return reads.history(run, memoryId, head, normal);
    },

    async listMemories(query, callOptions) {
      const run = enter(callOptions);
      const { owner, cursor, limit } = normalizeListQuery(query);
      const listed: ListedMemory[] = [];
      let [shard, after] = cursor === undefined ? [0, ""] : placeOf(cursor);
      for (const end = owner === undefined ? shards : 1; shard < end; shard++, after = "") {
        const partition = items.listPartition(owner, shard);
        const first = after === "" ? undefined : items.key(partition, after);
        const read = (start: Item | undefined = first): Statement<Page> =>
          items.query(partition, undefined, { start, limit: Math.max(batch, limit + 1 - listed.length) });
        for await (const page of reads.pages(run, read)) {
          const entries = page.items.map((item) => items.entryOf(item));
          const keys = entries.map(({ memoryId }) => items.headKey(memoryId));
          const found = await reads.getAll(run, keys);
          const heads = new Map(found.map((item) => [text(item[table.partitionKey]), item]));
          for (const { memoryId, life, sort } of entries) {
            const item = heads.get(items.partition(memoryId));
            const head = item && headOf(item);
            if (head === undefined || head.life !== life || !isPresent(head)) continue;
            const { owner, updatedAt } = head;
            listed.push({ memoryId, owner, updatedAt, position: `${shard}/${sort}` });
            if (listed.length > limit) return listPage(listed, limit);
          }
        }
      }
      return listPage(listed, limit);
    },

    async sweep(callOptions) {
      const run = enter(callOptions);
      let removed = 0;
      async function each(partition: string, settle: (item: Item) => Promise<boolean>): Promise<void> {
        const read = (start: Item | undefined): Statement<Page> =>
          items.query(partition, undefined, { start, limit: batch });
        for await (const page of reads.pages(run, read)) {
          const settled = await inTurn(page.items, settle);
          removed += settled.filter(Boolean).length;
        }
      }
      async function settleWork(item: Item): Promise<boolean> {
        const work = items.workOf(item);
        if (work.stage === "staging") {
          return work.updatedAt <= Date.now() - isLeftBehindAfterMs && staging.abandon(run, work);
        }
        await staging.finish(run, work);
        return true;
      }
      async function settleEntry(item: Item): Promise<boolean> {
        const { memoryId, life, owner } = items.entryOf(item);
        const key = items.headKey(memoryId);
        const { Item: found } = await run(items.get(key));
        if (found !== undefined && text(found.life) === life) {
          if (isPresent({ endsAt: number(found.endsAt) })) return false;
          return staging.end(run, memoryId, { life, owner }, staging.expire(memoryId, life));
        }
        // Its head went by the table's own expiry. A head that cannot be read is left to who can restore it.
        if (found !== undefined && headOf(found) === undefined) return false;
        const expression = "attribute_not_exists(life) OR life <> :life";
        const gone = items.check(key, { expression, values: { ":life": { S: life } } });
        return staging.end(run, memoryId, { life, owner }, gone);
      }
      for (let shard = 0; shard < shards; shard++) {
        await each(items.workPartition(shard), settleWork);
        await each(items.listPartition(undefined, shard), settleEntry);
      }
      return { removed };
    },

    close,

    [Symbol.asyncDispose]: close,
  };
}

function snapshotOf({ version, nextSeq, owner, head }: Head, messages: StoredMessage[]): MemorySnapshot {
  const snapshot: MemorySnapshot = { version, nextSeq, messages };
  if (owner !== undefined) snapshot.owner = owner;
  if (head !== undefined) snapshot.head = head;
  return snapshot;
}

/** The partition and the sort key of the last memory of a page. */
function placeOf(cursor: string): [shard: number, sort: string] {
  const position = decodeCursor(cursor, /^[0-7]\/./s);
  return [Number(position[0]), position.slice(2)];
}
