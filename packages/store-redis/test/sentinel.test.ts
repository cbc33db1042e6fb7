import { createChatMemory, user } from "@turnkeep/core";
import { type RedisSentinel, startRedisSentinel } from "@turnkeep/servers";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisStore } from "../src/index.ts";
import { writeThrough } from "./failover.ts";
import { newPrefix, withClient } from "./support.ts";

describe("a master with two replicas, watched by sentinels", () => {
  const prefix = newPrefix();
  let group: RedisSentinel;
  let config: { sentinels: { host: string; port: number }[]; name: string };

  beforeAll(async () => {
    group = await startRedisSentinel();
    config = { sentinels: [...group.sentinels], name: group.name };
  });
  afterAll(() => group.stop());

  test("a memory over a store that waits for replicas: an acknowledged message is on them", async () => {
    const store = redisStore({ config, prefix, waitReplicas: { count: 2, timeoutMs: 20_000 } });
    const memory = createChatMemory({ id: "waits", store });
    for (let n = 1; n <= 20; n++) {
      await memory.add(user(`message ${n}`));
      for (const { url } of group.nodes.slice(1)) {
        const replica = redisStore({ url, prefix });
        expect((await replica.getMessages("waits")).nextSeq).toBe(n + 1);
        await replica.close();
      }
    }
    await store.close();
  });

  test("a memory whose replicas are too few finds its write in place, and goes on", async () => {
    const store = redisStore({ config, prefix, waitReplicas: { count: 3, timeoutMs: 20 } });
    const memory = createChatMemory({ id: "too few", store });
    await memory.add(user("one"));
    await memory.add(user("two"));
    const plain = redisStore({ config, prefix });
    const again = createChatMemory({ id: "too few", store: plain });
    expect(await again.messages()).toEqual([user("one"), user("two")]);
    await Promise.all([store, plain].map((each) => each.close()));
  });

  test("a failover in the middle of writes: no update is ever half there, and writing goes on", async () => {
    const client = new Redis({ ...config, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 });
    client.on("error", () => {});
    const opened = redisStore({ config, prefix });
    const given = redisStore({ client, prefix });
    for (const { url } of group.nodes.slice(1))
      await withClient(url, (replica) => replica.config("RESETSTAT"));
    let kill = (): void => {};
    const killed = new Promise<void>((resolve, reject) => {
      kill = () => {
        group.killMaster().then(() => resolve(), reject);
      };
    });
    const writers = [opened, given].map((store, index) =>
      writeThrough(store, `failover ${index}`, 50, killed),
    );
    while ((await opened.getMessages("failover 0")).nextSeq < 200);
    kill();
    for (const failures of await Promise.all(writers)) expect(failures).toBeGreaterThan(0);
    // The new master did not have the scripts of writes, and was given each once or twice.
    const calls = Number(/cmdstat_eval:calls=(\d+)/.exec(await client.info("commandstats"))?.[1]);
    expect(calls).toBeGreaterThan(0);
    expect(calls).toBeLessThan(10);
    await opened.close();
    client.disconnect();
  }, 120_000);
});
