import { describeCrashes, mortal } from "@turnkeep/store-tests";
import { beforeAll, expect } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { queryOf, through } from "./harness.ts";
import { connectionsTo, newFile } from "./support.ts";

const open = connectionsTo(newFile());
beforeAll(() => sqliteStore({ client: open() }).migrate());

describeCrashes({
  bytes: [40, 40, 3_000, 20_000],
  many: 110,
  writes: 4,
  conflicts: 400,
  open: (diesAt) => sqliteStore({ client: through(open(), mortal(diesAt)) }),
  // One batch is one update, and a sweep removes what has expired.
  openLate: () => sqliteStore({ client: open() }),
  async expectClean(memoryId, kept) {
    const query = queryOf(open());
    const rows = await query(
      `select h.memory_id, m.seq from turnkeep_messages m left join turnkeep_memories h using (memory_key)
       where h.memory_id = ? or h.memory_id is null order by m.seq`,
      memoryId,
    );
    expect(rows).toEqual(kept.map(({ seq }) => ({ memory_id: memoryId, seq })));
    const live = await query(
      `select l.seq from turnkeep_live l left join turnkeep_memories h using (memory_key)
       where h.memory_id = ? or h.memory_id is null order by l.seq`,
      memoryId,
    );
    expect(live).toEqual(kept.filter(({ state }) => state === "live").map(({ seq }) => ({ seq })));
  },
});
