import type { ConformanceHarness } from "@turnkeep/conformance";
import { createPool } from "mysql2/promise";
import { mariaDbStore } from "../src/index.ts";
import {
  countedPool,
  failingPool,
  newDatabase,
  rawRead,
  rawRemove,
  rawWrite,
  rowsOf,
  settingsOf,
} from "./support.ts";

const database = await newDatabase();
const { url, pool } = database;
const ends: (() => Promise<void>)[] = [];

/** How the conformance kit gets at the store: from vitest, and from the command `turnkeep-conformance`. */
const harness: ConformanceHarness = {
  async create(options) {
    const store = mariaDbStore({ url, ...options });
    await store.migrate();
    return store;
  },
  async destroy() {
    for (const end of ends) await end();
    await database.drop();
  },
  // The server is not the tests' own to restart, but every connection can be killed, as a restart does.
  async reopen() {
    const others = await rowsOf<{ id: number }>(
      pool,
      "select id from information_schema.processlist where db = database() and id <> connection_id()",
    );
    for (const { id } of others) await pool.query(`kill ${id}`).catch(() => {});
  },
  rawRead: (memoryId) => rawRead(pool, memoryId),
  rawWrite: (memoryId, texts) => rawWrite(pool, memoryId, texts),
  rawRemove: (memoryId, index) => rawRemove(pool, memoryId, index),
  fault: (options) => mariaDbStore({ client: failingPool(pool, options) }),
  given() {
    const client = createPool({ uri: url });
    ends.push(() => client.end());
    return {
      store: mariaDbStore({ client }),
      isOpen: () =>
        client.query("select 1").then(
          () => true,
          () => false,
        ),
      settings: () => settingsOf(client),
    };
  },
  elsewhere: () => ({ module: new URL("elsewhere.ts", import.meta.url), data: url }),
  unreachable: () => ({
    store: mariaDbStore({ url: "mysql://app:s3cret@127.0.0.1:1/chat" }),
    secret: "s3cret",
  }),
  counted() {
    const { client, count } = countedPool(pool);
    return { store: mariaDbStore({ client }), count };
  },
  async databaseNow() {
    const [row] = await rowsOf<{ now: number }>(
      pool,
      "select timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000 as now",
    );
    return Number(row?.now);
  },
};
export default harness;
