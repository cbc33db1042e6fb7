import { failure, message, update } from "@turnkeep/store-tests";
import { afterEach, describe, expect, inject, test, vi } from "vitest";
import { type RedisClient, redisStore } from "../src/index.ts";
import { newPrefix, refusing, withClient } from "./support.ts";

describe.each([
  "TRYAGAIN Multiple keys request during rehashing of slot",
  "Too many Cluster redirections. Last error: ReplyError: TRYAGAIN Multiple keys request during rehashing",
  "Too many Cluster redirections. Last error: ReplyError: ASK 3999 127.0.0.1:6381",
])("%s", (answer) => {
  afterEach(() => void vi.useRealTimers());

  test("is asked again until the slot has moved", async () => {
    await withClient(inject("redisUrl"), async (redis) => {
      let left = 3;
      const client: RedisClient = {
        call: (command, args) => (left-- > 0 ? refusing(answer).call() : redis.call(command, args)),
      };
      const own = newPrefix();
      await redisStore({ client, prefix: own }).updateMessages(
        "a",
        update(null, 2, { append: [message(1)] }),
      );
      expect((await redisStore({ client: redis, prefix: own }).getMessages("a")).messages).toEqual([
        message(1),
      ]);
    });
  });

  test("for ten seconds, and then nothing was written", async () => {
    vi.useFakeTimers();
    const client = refusing(answer);
    const failed = failure(() => redisStore({ client }).getHistory("a", {}));
    await vi.advanceTimersByTimeAsync(9_000);
    const asked = client.asked;
    expect(asked).toBeGreaterThan(100);
    await vi.advanceTimersByTimeAsync(2_000);
    const error = await failed;
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code: "TRYAGAIN" } });
    expect((error as Error).message).toContain("Nothing was written");
    expect(client.asked).toBeLessThan(1.2 * asked);
  });

  test("no more once nobody waits", async () => {
    vi.useFakeTimers();
    const client = refusing(answer);
    const controller = new AbortController();
    const failed = failure(() => redisStore({ client }).getHistory("a", {}, controller));
    await vi.advanceTimersByTimeAsync(100);
    controller.abort();
    const { asked } = client;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await failed).toMatchObject({ code: "ABORTED" });
    expect(client.asked).toBe(asked);
  });
});
