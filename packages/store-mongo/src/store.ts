import type { CallOptions, ChatMemoryStore, StoredMessage } from "@turnkeep/core";
import {
  defineStore,
  isTurnkeepError,
  notReadyError,
  type StoreConnection,
  show,
  type TurnkeepError,
  withState,
} from "@turnkeep/core/store-kit";
import { connect, type Run } from "./client.ts";
import { expired, type RowDocument, states } from "./documents.ts";
import { migrate, migrated } from "./migrations.ts";
import { type MongoStoreOptions, normalizeOptions } from "./options.ts";
import {
  activityAt,
  entriesOf,
  type LocatedMessage,
  listedOf,
  merged,
  messageOf,
  newestPosition,
  overridden,
  rowsOf,
  snapshotOf,
} from "./records.ts";
import { storeName } from "./refusals.ts";
import { hasItsRows, removeLife, removeMemory, settleLives } from "./staging.ts";
import * as statements from "./statements.ts";
import { applyUpdate } from "./updates.ts";

const capabilities = Object.freeze({
  durable: true,
  shared: true,
  history: true,
  list: true,
  newest: true,
  ttl: true,
  delta: true,
  readSteps: 2,
  maxMessageBytes: 15 * 1024 * 1024,
});

/** A store in MongoDB. */
export interface MongoStore extends ChatMemoryStore {
  /**
   * Creates the collections' indexes or brings them up to date. Safe to run twice, and by several processes at once.
   * Needs permission to create indexes; if everything is in place, only to read.
   *
   * Errors: `UNSUPPORTED_VERSION` if a later version of this package migrated them; `STORE_NOT_READY` if somebody
   * created a collection with a collation, or an index in the way of ours, which it names, if the server lacks an operator
   * of MongoDB 4.4, or if the user lacks the right; `STORE_REFUSED`, `STORE_UNAVAILABLE`, `ABORTED`, `CLOSED`.
   */
  migrate(options?: CallOptions): Promise<void>;
}

/**
 * Keeps memories in MongoDB, over `mongodb`, in collections that `migrate()` prepares. A memory is one document,
 * changed by one conditional command; messages above 16 KB and those that left memory long ago are separate documents.
 * It needs no transactions, so a standalone server is enough. Writes wait for a majority, and reads go to the primary,
 * whatever the client's own settings are. Creating the store does no I/O.
 *
 * A message may have 15 MiB. `signal` ends the wait at once; what the database was already sent may still take effect.
 *
 * Errors: `INVALID_OPTION` at creation; in calls, those of the store contract, `STORE_NOT_READY` before `migrate()`, and
 * `STORE_REFUSED` or `STORE_UNAVAILABLE` with the driver's error as `cause`.
 *
 * @example
 * ```ts
 * import { createChatMemory, user } from "@turnkeep/core";
 * import { mongoStore } from "@turnkeep/store-mongo";
 *
 * const store = mongoStore({ url: "mongodb://localhost:27017/chat" });
 * await store.migrate();
 * const memory = createChatMemory({ id: "user-1/chat-1", store });
 * await memory.add(user("Hello"));
 * await store.close();
 * ```
 */
export function mongoStore(options: MongoStoreOptions): MongoStore {
  const { connection: place, database, prefix, ttlMs, activityMs } = normalizeOptions(options);
  const { under, close } = connect(place, { database, prefix });
  // `migrate` alone runs on collections that are not ready.
  const connection: StoreConnection<{ readonly run: Run; migrate(): Promise<void> }> = {
    under(signal) {
      const run = under(signal);
      return { run: ready(run), migrate: () => run(migrate) };
    },
    close,
  };
  /** How far the server's clock is ahead, in milliseconds. `undefined`: the collections may not be ready. */
  let ahead: number | undefined;
  const times = { ttlMs, activity: () => activityAt(Date.now() + (ahead ?? 0), activityMs) };

  function missing(cause?: unknown): TurnkeepError {
    const what = `an index of the collections ${prefix}… of the database ${show(database)}`;
    return notReadyError(storeName, what, cause);
  }

  function ready(run: Run): Run {
    return async (statement) => {
      ahead ??= await run(migrated);
      if (ahead === undefined) throw missing();
      return run(statement).catch((error: unknown) => {
        if (!isTurnkeepError(error, "STORE_NOT_READY")) throw error;
        // Somebody has dropped a collection.
        ahead = undefined;
        throw missing(error.cause);
      });
    };
  }

  const { store, enter } = defineStore(
    { name: storeName, capabilities, connection, positions: { newest: newestPosition } },
    {
      async read({ run }, memoryId, known) {
        for (const missed = new Set<string>(); ; ) {
          const memory = await run(statements.read(memoryId, known));
          if (memory === null) return undefined;
          if (memory.version === known) return snapshotOf(memory, undefined);
          const messages = await messagesOf(run, entriesOf(memory, ["live"]), missed);
          if (messages !== undefined) return snapshotOf(memory, messages);
        }
      },

      update: ({ run }, memoryId, update) => applyUpdate(run, memoryId, update, times),

      remove: ({ run }, memoryId, expected) => removeMemory(run, memoryId, expected),

      async history({ run }, memoryId, query) {
        for (const missed = new Set<string>(); ; ) {
          const memory = await run(statements.ledger(memoryId));
          if (memory === null) return undefined;
          const entries = entriesOf(memory, states);
          const except = overridden(memory, entries);
          const rows =
            memory.generation === 0 ? [] : await run(statements.history(memory.life, query, except));
          const matches = merged(entries, rows, query);
          const page = matches.slice(0, query.limit);
          const messages = await messagesOf(run, page, missed);
          // Otherwise a row may have been deleted in between, and its message missed: read again.
          if (messages !== undefined && (await hasItsRows(run, memory))) {
            return {
              messages: messages.map((message, index) => withState(message, page[index]?.state ?? "live")),
              hasMore: matches.length > query.limit,
            };
          }
        }
      },

      list: async ({ run }, query) =>
        (await run(statements.list(query))).map((memory) => listedOf(memory, query.order)),

      async sweep({ run }) {
        let removed = 0;
        for (let ids = [""]; ids.length > 0; ) {
          ids = await run(statements.someExpired());
          for (const _id of ids) if (await removeLife(run, { _id, ...expired })) removed++;
        }
        return removed + (await settleLives(run, ""));
      },
    },
  );
  return { ...store, migrate: async (callOptions) => enter(callOptions).migrate() };
}

/**
 * The messages of entries; one more statement reads those that are stored apart. `undefined`: a row is not there, perhaps
 * because a write deleted it meanwhile, so read the memory again. If it then still names that row, the row is lost.
 *
 * @param missed Rows that the reads before did not find.
 */
async function messagesOf(
  run: Run,
  located: readonly LocatedMessage[],
  missed: Set<string>,
): Promise<StoredMessage[] | undefined> {
  const ids = rowsOf(located);
  const rows = ids.length === 0 ? [] : await run(statements.rows({ _id: { $in: ids } }));
  const byId = new Map<unknown, RowDocument>(rows.map((row) => [row._id, row]));
  const news = ids.filter((id) => !byId.has(id) && !missed.has(id));
  for (const id of news) missed.add(id);
  return news.length > 0 ? undefined : located.map((one) => messageOf(one, byId.get(one.entry.r)));
}
