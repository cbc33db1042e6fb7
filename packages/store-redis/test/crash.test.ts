import { describeCrashes, stumble } from "@turnkeep/store-tests";
import { Redis } from "ioredis";
import { afterAll, expect, inject } from "vitest";
import { type RedisClient, redisStore } from "../src/index.ts";
import { keysOf, newPrefix } from "./support.ts";

const redis = new Redis(inject("redisUrl"));
const prefix = newPrefix();

afterAll(() => redis.disconnect());

/** Its process dies at a command, before it is sent or before the answer is there. */
function mortal(diesAt: number): RedisClient {
  let count = 0;
  return {
    async call(name, args) {
      await stumble();
      if (++count < diesAt) return redis.call(name, [...args]);
      if (count === diesAt && diesAt % 2 === 0) await redis.call(name, [...args]);
      throw new Error("the process has died");
    },
  };
}

describeCrashes({
  bytes: [40, 40, 3_000, 20_000],
  many: 110,
  writes: 4,
  conflicts: 1_000,
  open: (diesAt = Number.POSITIVE_INFINITY) => redisStore({ client: mortal(diesAt), prefix }),
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
