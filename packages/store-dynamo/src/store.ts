import type { CallOptions, ChatMemoryStore, ReadOptions, StoreCapabilities } from "@turnkeep/core";
import {
  checkUpdate,
  conflictError,
  copyUpdate,
  isTurnkeepError,
  lifecycle,
  listPage,
  memorySnapshot,
  type NormalHistoryQuery,
  normalizeHistoryQuery,
  normalizeListQuery,
  storeError,
  withState,
} from "@turnkeep/core/store-kit";
import { connect, pause, type Run } from "./client.ts";
import { allLive, type Found, readMessages, withLost } from "./history.ts";
import { type Head, headKey, isPresent, Memory } from "./items.ts";
import { migrate } from "./migrations.ts";
import { type DynamoStoreOptions, normalizeOptions } from "./options.ts";
import { readHead, readList } from "./reads.ts";
import { storeName } from "./refusals.ts";
import { endLife, finishDeletes, sweep } from "./staging.ts";
import { Table } from "./table.ts";
import { applyUpdate, type Lost } from "./updates.ts";

/** A store in DynamoDB. */
export interface DynamoStore extends ChatMemoryStore {
  /**
   * Creates the table, billed on demand, waits until it is active, and turns on its expiry (TTL). Safe to run twice,
   * and by several processes at once. For an existing table, it checks the keys, the indexes and whether expiry is on.
   *
   * Errors: `INVALID_OPTION` if the table's keys or its TTL attribute differ from the options; `STORE_NOT_READY` if it
   * is not active within five minutes, has multi-Region strong consistency, or an index that would refuse items;
   * `STORE_REFUSED` if the credentials lack a right; `STORE_UNAVAILABLE`, `ABORTED`, `CLOSED`.
   */
  migrate(options?: CallOptions): Promise<void>;
}

/** How often one version is read whose messages are not where its head says, before they count as lost. */
const readsOfOneVersion = 6;

/** How often an update is planned whose rows a sweep or a running transaction changes. */
const plansOfOneUpdate = 3;

/** How many memories' heads the store remembers, so that an update need not read again what was just read. */
const remembered = 1_000;

/**
 * Keeps memories in DynamoDB, over the AWS SDK 3, in a table that `migrate()` creates or in an existing one. A memory
 * is one partition. An ordinary update is one conditional put of its head, which holds the newest messages; now and
 * then one transaction moves them into rows. Rows above 32 KB are written before it, and still appear at once. Creating
 * the store does no I/O.
 *
 * A message may have 16 MiB. `signal` ends the wait at once; what the database was already sent may still take effect.
 * DynamoDB has no clock that a write could use: expiry goes by the clock of the process that writes or reads.
 *
 * Errors: `INVALID_OPTION` at creation; in calls, those of the store contract, `STORE_NOT_READY` before `migrate()`,
 * and `STORE_REFUSED` or `STORE_UNAVAILABLE` with the driver's error as `cause`, also if the database throttles for long.
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
  const { connection: place, table: names, ttlMs } = normalizeOptions(options);
  const { enter, enterFor, close } = lifecycle(storeName, connect(place, names.tableName));
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
  const heads = new Map<string, Head>();

  function tableOf(run: Run): Table {
    return new Table(run, names);
  }

  function remember(memoryId: string, head: Head): void {
    heads.delete(memoryId);
    heads.set(memoryId, head);
    const [oldest] = heads.keys();
    if (heads.size > remembered && oldest !== undefined) heads.delete(oldest);
  }

  async function look(table: Table, memoryId: string): Promise<Head | undefined> {
    const head = await readHead(table, memoryId);
    if (head !== undefined) remember(memoryId, head);
    return head;
  }

  /** Without a head there is no memory. Nothing is `found` if it is at the version that the caller knows. */
  async function read(
    table: Table,
    memoryId: string,
    query: NormalHistoryQuery,
    { known, signal }: ReadOptions = {},
  ): Promise<{ head?: Head | undefined; found?: Found; lost: Lost }> {
    let version: string | undefined;
    for (let tries = 1; ; tries++) {
      const head = await look(table, memoryId);
      if (head === undefined || head.version === known) return { head, lost: new Map() };
      // A page of history may be of no version; a snapshot has to be.
      if (query === allLive && head.version !== version) tries = 1;
      version = head.version;
      const found = await readMessages(table, memoryId, head, query);
      // What is damaged does not hide the rest.
      if (found.isWhole || tries === readsOfOneVersion) {
        return { head, ...(await withLost(new Memory(table, memoryId, head.life), found, query)) };
      }
      // The update that the read met is still being applied, one item at a time.
      await pause(Math.random() * 10 * 2 ** tries, signal);
    }
  }

  const store: DynamoStore = {
    capabilities,

    async migrate(callOptions) {
      await migrate(enter(callOptions), names, callOptions?.signal);
    },

    async getMessages(memoryId, callOptions) {
      const table = tableOf(enterFor(memoryId, callOptions));
      const { head, found } = await read(table, memoryId, allLive, callOptions);
      if (head === undefined) return { version: null, nextSeq: 1, messages: [] };
      return memorySnapshot(
        head,
        found?.messages.map(({ message }) => message),
      );
    },

    async updateMessages(memoryId, update, callOptions) {
      const table = tableOf(enterFor(memoryId, callOptions));
      checkUpdate(update, capabilities);
      const change = copyUpdate(update);
      const { expected, version } = change;
      let base = expected === null ? headOfNone(change.owner) : heads.get(memoryId);
      if (expected !== null && base?.version !== expected) base = await look(table, memoryId);
      let lost: Lost = new Map();
      let invalid: unknown;
      for (let plans = 1; plans <= plansOfOneUpdate && base?.version === (expected ?? ""); plans++) {
        const { life, count } = base;
        invalid = undefined;
        const after = await applyUpdate(table, memoryId, change, base, lost, ttlMs).catch(
          (error: unknown) => {
            if (!isTurnkeepError(error, "INVALID_OPTION")) throw error;
            invalid = error;
          },
        );
        if (after === "again" && plans < plansOfOneUpdate) continue;
        if (after === "torn") {
          ({ head: base, lost } = await read(table, memoryId, allLive, { signal: callOptions?.signal }));
          continue;
        }
        if (typeof after === "object" && "version" in after) return remember(memoryId, after);
        // The head tells why nothing was changed. It may be of another life, which began with the same version.
        base = await look(table, memoryId);
        const isOpen = typeof after === "object" && after.isOpen && base?.version !== version;
        // The next update after the expected version was another's: then this one was never in place.
        const isSettled = base?.life === life && base.count === count + 1;
        if (isOpen && !isSettled) throw storeError(storeName, after.cause);
        if (base?.life === life) break;
      }
      if (base?.version === version) return;
      if (invalid !== undefined && (base?.version ?? null) === expected) throw invalid;
      throw conflictError(memoryId, expected);
    },

    async deleteMessages(memoryId, callOptions) {
      const table = tableOf(enterFor(memoryId, callOptions));
      const expected = callOptions?.expected;
      heads.delete(memoryId);
      const found = await table.get(headKey(memoryId));
      if (found === undefined) return finishDeletes(table, memoryId);
      const { life = "", owner, version, endsAt } = found.values as Partial<Head>;
      const isOther = expected !== undefined && version !== expected;
      if (isOther && isPresent({ endsAt })) throw conflictError(memoryId, expected);
      if (isOther) return;
      // By its life: a delete that is late, or sent twice, must not hit the next memory of that id. A damaged head may
      // have lost its life; a later sweep then finds what belongs to it in the listing.
      const isDamaged = typeof found.values.life !== "string";
      const isThis = isDamaged ? "NOT attribute_type(life, :life)" : "life = :life";
      const isAsExpected = expected === undefined ? "" : " AND version = :expected";
      const isDeleted = await endLife(
        new Memory(table, memoryId, life),
        owner,
        table.delete(found, {
          expression: isThis + isAsExpected,
          values: { ":life": isDamaged ? "S" : life, ":expected": expected },
        }),
      );
      // Somebody wrote, or deleted it, in between.
      if (!isDeleted && expected !== undefined) return store.deleteMessages(memoryId, callOptions);
    },

    async getHistory(memoryId, query, callOptions) {
      const table = tableOf(enterFor(memoryId, callOptions));
      const normal = normalizeHistoryQuery(query);
      const { found } = await read(table, memoryId, normal, { signal: callOptions?.signal });
      const { messages = [], hasMore = false } = found ?? {};
      return { messages: messages.map(({ message, state }) => withState(message, state)), hasMore };
    },

    async listMemories(query, callOptions) {
      const table = tableOf(enter(callOptions));
      const normal = normalizeListQuery(query, /^[0-7]\/./s);
      return listPage(await readList(table, normal), normal.limit);
    },

    async sweep(callOptions) {
      return { removed: await sweep(tableOf(enter(callOptions))) };
    },

    close,

    [Symbol.asyncDispose]: close,
  };
  return store;
}

/** The head that a new memory starts from. */
function headOfNone(owner: string | undefined): Head {
  return { version: "", nextSeq: 1, owner, live: "", recent: "", life: "", count: 0, updatedAt: 0 };
}
