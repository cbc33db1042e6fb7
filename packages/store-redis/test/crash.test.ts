import { describeCrashes, mortal } from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import { afterAll, expect, inject } from "vitest";
import { redisStore } from "../src/index.ts";
import { keysOf, newPrefix } from "./support.ts";

const redis = new Redis(inject("redisUrl"));
const prefix = newPrefix();

afterAll(() => redis.disconnect());

describeCrashes({
  bytes: [40, 40, 3_000, 20_000],
  many: 110,
  writes: 4,
  conflicts: 1_000,
  open(diesAt) {
    const through = mortal(diesAt);
    const client = {
      call: (name: string, args: (string | number)[]) => through(() => redis.call(name, args)),
    };
    return redisStore({ client, prefix });
  },
  // One script is one update; what a beginning leaves in the index, a sweep removes.
  openLate: () => redisStore({ client: redis, prefix }),
  async expectClean(memoryId, kept) {
    const keys = await keysOf(redis, prefix, memoryId);
    if (kept.length === 0) expect(keys).toEqual([]);
    const seqsIn = async (name: string): Promise<string[]> => {
      const key = keys.find((one) => one.endsWith(`:${name}`));
      if (key === undefined) return [];
      return name === "messages" ? redis.hkeys(key) : redis.zrange(key, "0", "-1");
    };
    const seqs = kept.map(({ seq }) => String(seq));
    expect((await seqsIn("messages")).sort()).toEqual(seqs.toSorted());
    for (const state of ["live", "evicted", "superseded"]) {
      expect(await seqsIn(state)).toEqual(
        kept.filter((one) => one.state === state).map(({ seq }) => String(seq)),
      );
    }
  },
});
