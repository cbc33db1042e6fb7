/** The store: what each call of the contract reads and writes. The files beside this one are its steps. */
import type { CallOptions, ChatMemoryStore, StoreCapabilities } from "@turnkeep/core";
import { defineStore, memorySnapshot, withState } from "@turnkeep/core/store-kit";
import { connect } from "./client.ts";
import { Heads } from "./head.ts";
import { allLive, readMemory } from "./history.ts";
import { listPositions, readList } from "./lists.ts";
import { migrate } from "./migrations.ts";
import { type DynamoStoreOptions, normalizeOptions } from "./options.ts";
import { storeName } from "./refusals.ts";
import { removeMemory, sweep } from "./staging.ts";
import { Table } from "./table.ts";
import { commitUpdate } from "./updates.ts";

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

const capabilities: StoreCapabilities = Object.freeze({
  durable: true,
  shared: true,
  history: true,
  list: true,
  newest: true,
  ttl: true,
  delta: true,
  readSteps: 2,
  maxMessageBytes: 16 * 1024 * 1024,
});

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
  const { connection, table: names, timing } = normalizeOptions(options);
  const { under, close } = connect(connection, names.tableName);
  const heads = new Heads();

  const { store, enter } = defineStore<Table>(
    {
      name: storeName,
      capabilities,
      connection: { under: (signal) => new Table(under(signal), names), close },
      positions: listPositions,
    },
    {
      async read(table, memoryId, known) {
        const { head, data, page } = await readMemory(table, heads, memoryId, allLive, known);
        const messages = page?.messages.map(({ message }) => message);
        return head && memorySnapshot({ ...head, data }, messages);
      },

      update: (table, memoryId, update) => commitUpdate(table, heads, memoryId, update, timing),

      remove(table, memoryId, expected) {
        heads.forget(memoryId);
        return removeMemory(table, memoryId, expected);
      },

      async history(table, memoryId, query) {
        const { page } = await readMemory(table, heads, memoryId, query);
        if (page === undefined) return undefined;
        const messages = page.messages.map(({ message, state }) => withState(message, state));
        return { messages, hasMore: page.hasMore };
      },

      list: readList,
      sweep,
    },
  );
  return {
    ...store,
    async migrate(callOptions) {
      await migrate(enter(callOptions), names);
    },
  };
}
