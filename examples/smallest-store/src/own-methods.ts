import type { PGlite } from "@electric-sql/pglite";
import type { ChatMemoryStore, StoreCapabilities, StoredMessage } from "@turnkeep/core";
import {
  conflictError,
  corruptError,
  defineStore,
  driverCalls,
  isInPlace,
  memorySnapshot,
  storedRows,
} from "@turnkeep/core/store-kit";

/** What a row holds, as JSON text: a memory with its live messages. This store keeps no history, and lists nothing. */
interface Memory {
  readonly version: string;
  readonly nextSeq: number;
  readonly owner?: string | undefined;
  readonly head?: string | undefined;
  readonly data?: string | undefined;
  readonly messages: readonly StoredMessage[];
}

/** Run once. Texts compare by their bytes, whatever the database's collation. */
export const schema = `
  create table if not exists own_memories (
    id text collate "C" primary key, version text collate "C" not null, value text not null
  )`;

const name = "ownStore";
const capabilities: StoreCapabilities = {
  durable: true,
  shared: true,
  history: false,
  list: false,
  newest: false,
  ttl: false,
  delta: false,
  readSteps: 1,
  maxMessageBytes: 16 * 1024 * 1024,
};

/** The store of `my-store.ts` with methods of its own: what it shows is what `defineStore` leaves to a database. */
export function ownStore(database: PGlite): ChatMemoryStore {
  const calls = driverCalls(name);
  const connection = {
    // A driver that takes a signal gets it here. The wait ends in any case.
    under: (signal: AbortSignal | undefined) => async (sql: string, values: unknown[]) =>
      (await calls.run(() => database.query<{ value: string }>(sql, values), signal)).rows,
    close: calls.settled,
  };
  type Rows = ReturnType<typeof connection.under>;

  async function find(rows: Rows, memoryId: string): Promise<Memory | undefined> {
    const [row] = await rows("select value from own_memories where id = $1", [memoryId]);
    try {
      return row && (JSON.parse(row.value) as Memory);
    } catch (cause) {
      throw corruptError(memoryId, "it is no JSON", { cause });
    }
  }

  /** Writes only over the version that was read, so of two writers one wins. Answers whether this one did. */
  async function write(rows: Rows, memoryId: string, memory: Memory, expected: string | null) {
    const begin = `insert into own_memories (id, version, value) values ($1, $2, $3)
      on conflict do nothing returning value`;
    const change = `update own_memories set version = $2, value = $3 where id = $1 and version = $4 returning value`;
    const values = [memoryId, memory.version, JSON.stringify(memory)];
    const written = expected === null ? rows(begin, values) : rows(change, [...values, expected]);
    return (await written).length === 1;
  }

  return defineStore(
    { name, capabilities, connection },
    {
      async read(rows, memoryId) {
        const memory = await find(rows, memoryId);
        return memory && memorySnapshot(memory, [...memory.messages]);
      },

      async update(rows, memoryId, update) {
        for (;;) {
          const memory = await find(rows, memoryId);
          const messages = memory?.messages ?? [];
          const live = messages.map(({ seq, id }) => ({ seq, id, state: "live" as const }));
          // Throws unless the update fits what is there. Sent twice, it is in place already.
          if (isInPlace(memoryId, update, memory?.version ?? null, storedRows(memory?.nextSeq ?? 1, live))) {
            return;
          }
          const { version, nextSeq, expected, insert, replaced, moved } = update;
          const bySeq = new Map(messages.map((message) => [message.seq, message]));
          for (const { state: _, ...message } of [...insert, ...replaced]) bySeq.set(message.seq, message);
          const removed = [...replaced, ...moved].filter(({ state }) => state === "removed");
          for (const { seq } of removed) bySeq.delete(seq);
          // An update leaves what it does not name.
          const owner = update.owner ?? memory?.owner;
          const head = update.head ?? memory?.head;
          const data = update.data ?? memory?.data;
          const changed = { version, nextSeq, owner, head, data, messages: [...bySeq.values()] };
          // If somebody else wrote in between, what is there now says what this call is told.
          if (await write(rows, memoryId, changed, expected)) return;
        }
      },

      async remove(rows, memoryId, expected) {
        const deletion = "delete from own_memories where id = $1 and version = coalesce($2, version)";
        await rows(deletion, [memoryId, expected ?? null]);
        const left = expected === undefined ? undefined : await find(rows, memoryId);
        if (left !== undefined && expected !== undefined) throw conflictError(memoryId, expected);
      },

      sweep: () => 0,
    },
  ).store;
}
