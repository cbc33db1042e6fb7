import { describeCrashes, stumble } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import { type PostgresClient, postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openPool } from "./support.ts";

let pool: pg.Pool;

beforeAll(async () => {
  pool = openPool(await newDatabase());
  await postgresStore({ client: pool }).migrate();
});
afterAll(() => pool.end());

/** Its process dies at a statement, before it is sent or before the answer is there. */
function mortal(diesAt: number): PostgresClient {
  let count = 0;
  return {
    async query(text, values) {
      await stumble();
      if (++count < diesAt) return pool.query(text, values);
      if (count === diesAt && diesAt % 2 === 0) await pool.query(text, values);
      throw new Error("the process has died");
    },
  };
}

describeCrashes({
  bytes: [40, 40, 3_000, 20_000],
  many: 110,
  writes: 4,
  conflicts: 1_000,
  open: (diesAt = Number.POSITIVE_INFINITY) => postgresStore({ client: mortal(diesAt) }),
  // One statement is one update, and a sweep removes what has expired.
  openLate: () => postgresStore({ client: pool }),
  async expectClean(memoryId, kept) {
    const { rows } = await pool.query<{ memory_id: string | null; seq: string }>(
      `select h.memory_id, m.seq from turnkeep_messages m left join turnkeep_memories h using (memory_key)
       where h.memory_id = $1 or h.memory_id is null order by m.seq`,
      [memoryId],
    );
    expect(rows).toEqual(kept.map(({ seq }) => ({ memory_id: memoryId, seq: String(seq) })));
  },
});
