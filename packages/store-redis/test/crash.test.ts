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
  conflicts: process.env.TURNKEEP_THOROUGH ? 1_000 : 150,
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
    const keyOf = (name: string): string => keys.find((key) => key.endsWith(`:${name}`)) ?? "";
    const seqsOf = (rows: typeof kept): string[] => rows.map(({ seq }) => String(seq)).toSorted();
    const live = (await redis.hkeys(keyOf("head"))).filter((field) => /^\d/.test(field));
    expect(live.toSorted()).toEqual(seqsOf(kept.filter(({ state }) => state === "live")));
    const left = kept.filter(({ state }) => state !== "live");
    expect((await redis.hkeys(keyOf("messages"))).toSorted()).toEqual(seqsOf(left));
    expect((await redis.hvals(keyOf("ids"))).toSorted()).toEqual(seqsOf(kept));
    const runs = await redis.zrange(keyOf("states"), "0", "-1", "WITHSCORES");
    const states = new Map<number, string | undefined>();
    for (let at = 0; at < runs.length; at += 2) {
      const [first, state] = runs[at]?.split(":") ?? [];
      for (let seq = Number(first); seq <= Number(runs[at + 1]); seq++) states.set(seq, state);
    }
    const marked = [...states].filter(([, state]) => state !== "removed");
    expect(marked).toEqual(left.map(({ seq, state }) => [seq, state]));
  },
});
