import { describeCrashes, mortal } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import { postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openPool } from "./support.ts";

let pool: pg.Pool;

beforeAll(async () => {
  pool = openPool(await newDatabase());
  await postgresStore({ client: pool }).migrate();
});
afterAll(() => pool.end());

describeCrashes({
  bytes: [40, 40, 3_000, 20_000],
  many: 110,
  writes: 4,
  conflicts: process.env.TURNKEEP_THOROUGH ? 1_000 : 150,
  open(diesAt) {
    const through = mortal(diesAt);
    return postgresStore({ client: { query: (text, values) => through(() => pool.query(text, values)) } });
  },
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
