import { afterEach, describe, expect, it, vi } from "vitest";
import { CallQueue } from "../src/store-kit.ts";

/** A call that ends when it is told to; `dropped` ones never are. */
function held(begun: string[], name: string): { call: () => Promise<string>; end: () => void } {
  let end = (): void => undefined;
  const ended = new Promise<string>((resolve) => {
    end = () => resolve(name);
  });
  const call = (): Promise<string> => {
    begun.push(name);
    return ended;
  };
  return { call, end };
}

afterEach(() => vi.useRealTimers());

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a queue of calls", () => {
  it("makes one after the other, in order, whatever becomes of those before", async () => {
    const queue = new CallQueue();
    const begun: string[] = [];
    const first = held(begun, "first");
    const one = queue.run(first.call);
    const failing = queue.run(async () => {
      begun.push("second");
      throw new Error("second");
    });
    const three = queue.run(async () => begun.push("third"));
    await soon();
    expect(begun).toEqual(["first"]);
    first.end();
    await expect(failing).rejects.toThrow("second");
    expect([await one, await three]).toEqual(["first", 3]);
    expect(begun).toEqual(["first", "second", "third"]);
  });

  it("tells when those made so far have ended, later ones not waited for", async () => {
    const queue = new CallQueue();
    const first = held([], "first");
    const never = held([], "never");
    queue.run(first.call);
    let isOver = false;
    const ended = queue.ended().then(() => {
      isOver = true;
    });
    queue.run(never.call);
    await soon();
    expect(isOver).toBe(false);
    first.end();
    await ended;
  });

  it("goes on behind calls that do not end within their limit, each behind the one before it", async () => {
    const queue = new CallQueue();
    const begun: string[] = [];
    for (const name of ["first", "second"]) queue.run(held(begun, name).call, 20);
    const third = queue.run(async () => begun.push("third"), 20);
    await third;
    expect(begun).toEqual(["first", "second", "third"]);
    await queue.ended();
  });

  it("is free behind a call that does not end within its limit and that nobody waits for", async () => {
    vi.useFakeTimers();
    const queue = new CallQueue();
    queue.run(held([], "dropped").call, 1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await queue.run(async () => "next")).toBe("next");
  });

  it("runs calls of one tick one by one behind a call that was dropped long ago", async () => {
    vi.useFakeTimers();
    const queue = new CallQueue();
    const begun: string[] = [];
    queue.run(held(begun, "dropped").call, 1);
    await vi.advanceTimersByTimeAsync(1000);
    const [second, third] = [held(begun, "second"), held(begun, "third")];
    const two = queue.run(second.call, 1000);
    const three = queue.run(third.call, 1000);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(["dropped", "second"]);
    second.end();
    await two;
    third.end();
    expect(await three).toBe("third");
    expect(begun).toEqual(["dropped", "second", "third"]);
  });

  it("waits as long as it takes for a call without a limit", async () => {
    vi.useFakeTimers();
    const queue = new CallQueue();
    const begun: string[] = [];
    const first = held(begun, "first");
    queue.run(first.call);
    const second = queue.run(async () => begun.push("second"), 1);
    await vi.advanceTimersByTimeAsync(1_000_000_000);
    expect(begun).toEqual(["first"]);
    first.end();
    await second;
  });
});
