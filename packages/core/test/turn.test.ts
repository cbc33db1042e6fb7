import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Anchor,
  assistant,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  type ModelMessage,
  TurnkeepError,
  user,
} from "../src/index.ts";
import { gate } from "./gate.ts";
import { meeting } from "./meeting-store.ts";

type Memory = ChatMemory<ModelMessage>;

const leaseMs = 3000;

const open = (store: ChatMemoryStore): Memory => createChatMemory({ id: "m", store });

const away = (): never => {
  throw new TurnkeepError("STORE_UNAVAILABLE", "the store is away");
};

async function headOf(store: ChatMemoryStore): Promise<{ epoch: number; turn?: { beat: number } }> {
  return JSON.parse((await store.getMessages("m")).head ?? "{}");
}

async function textsIn(store: ChatMemoryStore): Promise<unknown[]> {
  return (await open(store).messages()).map(({ content }) => content);
}

/** Lets pass what a call pauses after a conflict. */
async function soon<T>(call: Promise<T>): Promise<T> {
  call.catch(() => {});
  await vi.advanceTimersByTimeAsync(200);
  return call;
}

const codeOf = (error: unknown): string => (error as TurnkeepError).code;

/** A turn that lasts until it is told to end, or its signal fires. */
function holding(memory: Memory, options = {}) {
  const begun = gate();
  const end = gate();
  let signal: AbortSignal | undefined;
  const ended = memory.turn(
    async (turn) => {
      signal = turn.signal;
      begun.open();
      await end.opened;
      return "done";
    },
    { leaseMs, ...options },
  );
  ended.catch(() => {});
  return {
    begun: begun.opened,
    end: end.open,
    ended,
    get signal() {
      return signal as AbortSignal;
    },
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("one turn at a time", () => {
  test("turns of several memory objects over one store do not mix", async () => {
    const store = inMemoryStore();
    let running = 0;
    const most: number[] = [];
    const say = (memory: Memory, text: string) =>
      memory.turn(async () => {
        most.push(++running);
        await memory.add(user(text));
        await new Promise((resolve) => setTimeout(resolve, 50));
        await memory.add(assistant(text));
        running--;
      });
    const memories = [open(store), open(store), open(store)];
    const turns = [1, 2, 3].flatMap((round) => memories.map((memory, n) => say(memory, `${n}.${round}`)));
    await vi.advanceTimersByTimeAsync(60_000);
    await Promise.all(turns);
    expect(new Set(most)).toEqual(new Set([1]));
    const said = await textsIn(store);
    expect(said).toHaveLength(18);
    for (let place = 0; place < said.length; place += 2) expect(said[place]).toBe(said[place + 1]);
  });

  test("those of one object run in the order in which they were asked for", async () => {
    const memory = createChatMemory();
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4].map((n) => memory.turn(() => void order.push(n))));
    expect(order).toEqual([1, 2, 3, 4]);
  });

  test("with busy: reject a second one is BUSY, over the same object and over another", async () => {
    const store = inMemoryStore();
    const memory = open(store);
    const { begun, end, ended } = holding(memory);
    await begun;
    for (const other of [memory, open(store)]) {
      const refused = other.turn(() => 1, { busy: "reject" });
      await expect(refused).rejects.toMatchObject({ code: "BUSY", details: { memoryId: "m", call: "turn" } });
      expect(await other.running()).toBe(true);
    }
    end();
    expect(await ended).toBe("done");
    expect(await open(store).turn(() => 1, { busy: "reject" })).toBe(1);
    expect(await memory.running()).toBe(false);
  });

  test("so it is also where both are asked for at once, long after another one", async () => {
    const memory = createChatMemory();
    await memory.turn(() => 1);
    await vi.advanceTimersByTimeAsync(3_600_000);
    const { begun, end, ended } = holding(memory);
    const refused = expect(memory.turn(() => 2, { busy: "reject" })).rejects.toMatchObject({ code: "BUSY" });
    await begun;
    end();
    await Promise.all([refused, ended]);
  });

  test("the caller's signal ends the wait, here and elsewhere", async () => {
    const store = inMemoryStore();
    const memory = open(store);
    const { begun, end, ended } = holding(memory);
    await begun;
    for (const other of [memory, open(store)]) {
      const caller = new AbortController();
      const waiting = other.turn(() => "never", { signal: caller.signal });
      const refused = expect(waiting).rejects.toMatchObject({ code: "ABORTED", cause: "enough" });
      await vi.advanceTimersByTimeAsync(100);
      caller.abort("enough");
      await refused;
    }
    end();
    await ended;
    await vi.advanceTimersByTimeAsync(1000);
    expect((await headOf(store)).turn).toBeUndefined();
  });

  test("what run throws is thrown, and the lease is released", async () => {
    const store = inMemoryStore();
    const error = new Error("no model");
    await expect(
      open(store).turn(() => {
        throw error;
      }),
    ).rejects.toBe(error);
    expect((await headOf(store)).turn).toBeUndefined();
  });

  test("a turn within a turn of the same object is BUSY where that can be told", async () => {
    const memory = createChatMemory();
    const nested = async (options?: { signal: AbortSignal }): Promise<string> =>
      memory.turn(() => "never", options).catch(codeOf);
    expect(await memory.turn(() => nested())).toBe("BUSY");
    const later = memory.turn(async ({ signal }) => {
      await memory.messages();
      return nested({ signal });
    });
    expect(await later).toBe("BUSY");
    expect(await memory.turn(() => "free")).toBe("free");
  });

  test.each([99, 1.5, "3000", 2 ** 31])("leaseMs %s is refused", async (wrong) => {
    const options = { leaseMs: wrong as number };
    await expect(createChatMemory().turn(() => 1, options)).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });
});

describe("the lease", () => {
  test("costs one write at each end, and nothing outside a turn", async () => {
    const calls: string[] = [];
    const store = meeting(inMemoryStore(), (method, isMade) => void (isMade && calls.push(method)));
    const memory = open(store);
    await memory.add(user("0"));
    calls.length = 0;
    await memory.turn(() => memory.add(user("1")));
    expect(calls).toEqual(["updateMessages", "updateMessages", "updateMessages"]);
    calls.length = 0;
    await memory.add(user("2"));
    expect(calls).toEqual(["updateMessages"]);
  });

  test("is renewed while the turn runs, with the turn's own writes where it has some", async () => {
    const store = inMemoryStore();
    const memory = open(store);
    const { begun, end, ended, signal } = holding(memory);
    await begun;
    const beats: (number | undefined)[] = [];
    for (let time = 0; time < 10 * leaseMs; time += leaseMs) {
      await vi.advanceTimersByTimeAsync(leaseMs);
      beats.push((await headOf(store)).turn?.beat);
    }
    expect(new Set(beats).size).toBe(10);
    const before = (await headOf(store)).turn?.beat as number;
    await vi.advanceTimersByTimeAsync(leaseMs / 4);
    await memory.add(user("x"));
    expect((await headOf(store)).turn?.beat).toBeGreaterThan(before);
    expect(signal?.aborted ?? false).toBe(false);
    end();
    await ended;
  });

  test("of a holder that lives is lost to nobody, however long they wait", async () => {
    const store = inMemoryStore();
    const memory = open(store);
    const { begun, end, ended } = holding(memory);
    await begun;
    let began = false;
    const other = open(store);
    const waiting = other.turn(() => {
      began = true;
    });
    await vi.advanceTimersByTimeAsync(10 * leaseMs);
    expect([began, await other.running()]).toEqual([false, true]);
    end();
    await ended;
    await vi.advanceTimersByTimeAsync(1000);
    await waiting;
    expect(began).toBe(true);
  });

  test("that nobody renews is free after its leaseMs, and not earlier", async () => {
    const store = inMemoryStore();
    let isDead = false;
    const dead = open(meeting(store, () => (isDead ? new Promise(() => {}) : undefined)));
    const holder = holding(dead);
    await holder.begun;
    isDead = true;
    const next = open(store);
    let began = false;
    const turn = next.turn(() => {
      began = true;
    });
    await vi.advanceTimersByTimeAsync(leaseMs - 1);
    expect(began).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(began).toBe(true);
    await turn;
  });

  test("that its holder cannot renew is lost before others may take it over", async () => {
    const store = inMemoryStore();
    let isAway = false;
    const cut = open(meeting(store, () => isAway && away()));
    const first = holding(cut);
    await first.begun;
    isAway = true;
    const begun: boolean[] = [];
    const turn = open(store).turn(() => void begun.push(first.signal.aborted));
    await vi.advanceTimersByTimeAsync(2 * leaseMs);
    await turn;
    expect(begun).toEqual([true]);
    expect(first.signal.reason).toMatchObject({ code: "TURN_LOST" });
  });

  test("that was taken over makes every later write TURN_LOST, and nothing is written", async () => {
    const store = inMemoryStore();
    let isAway = false;
    const cut = open(meeting(store, () => isAway && away()));
    const [old] = await cut.add(user("0"));
    const first = holding(cut);
    await first.begun;
    isAway = true;
    const next = open(store);
    const turn = next.turn(() => next.add(user("1")));
    await vi.advanceTimersByTimeAsync(2 * leaseMs);
    await turn;
    isAway = false;
    const writes: (() => Promise<unknown>)[] = [
      () => cut.add(user("late")),
      () => cut.put("late", assistant("late")),
      () => cut.set([user("late")]),
      () => cut.transaction((transaction) => transaction.add(user("late"))),
      () => cut.rewind(old),
      () => cut.remove(old),
      () => cut.clear(),
    ];
    for (const write of writes) await expect(soon(write())).rejects.toMatchObject({ code: "TURN_LOST" });
    expect((await cut.messages()).map(({ content }) => content)).toEqual(["0", "1"]);
    first.end();
    expect(await first.ended).toBe("done");
    await soon(cut.add(user("2")));
    expect(await textsIn(store)).toEqual(["0", "1", "2"]);
  });

  test.each([
    ["others clear", (_own: Memory, other: Memory): Promise<unknown> => other.clear()],
    ["the turn clears", (own: Memory) => own.clear()],
    [
      "others clear and begin anew",
      async (_own: Memory, other: Memory) => {
        await other.clear();
        await other.add(user("new"));
      },
    ],
  ])("is lost when %s the memory", async (_what, clear) => {
    const store = inMemoryStore();
    const memory = open(store);
    const { begun, end, ended } = holding(memory);
    await begun;
    const other = open(store);
    await clear(memory, other);
    const left = await store.getMessages("m");
    await expect(soon(memory.add(user("late")))).rejects.toMatchObject({ code: "TURN_LOST" });
    expect(await store.getMessages("m")).toEqual(left);
    end();
    await soon(ended);
    expect(await store.getMessages("m")).toEqual(left);
  });

  test("stays when others write, also what changes the view other than at its end", async () => {
    const store = inMemoryStore();
    const memory = open(store);
    const [first] = await memory.add(user("0"), assistant("1"));
    const { begun, end, ended } = holding(memory);
    await begun;
    const { epoch } = await headOf(store);
    await open(store).rewind(first);
    expect((await headOf(store)).epoch).toBe(epoch + 1);
    await open(store).add(user("2"));
    await soon(memory.add(user("3")));
    expect(await textsIn(store)).toEqual(["2", "3"]);
    end();
    await ended;
    expect((await headOf(store)).turn).toBeUndefined();
  });

  test("raises no epoch, and is in the way of nobody who decides on what he has seen", async () => {
    const store = inMemoryStore();
    const editor = open(store);
    await editor.add(user("0"));
    await editor.messages();
    const { epoch } = await headOf(store);
    const memory = open(store);
    const { begun, end, ended } = holding(memory);
    await begun;
    await vi.advanceTimersByTimeAsync(leaseMs);
    expect((await headOf(store)).epoch).toBe(epoch);
    await soon(editor.set([user("1")]));
    for (const [writer, text] of [
      [editor, "2"],
      [memory, "3"],
    ] as const) {
      let isRead = false;
      const transaction = writer.transaction(async (transaction) => {
        await transaction.messages();
        isRead = true;
        await new Promise((resolve) => setTimeout(resolve, leaseMs));
        transaction.add(user(text));
      });
      await vi.advanceTimersByTimeAsync(leaseMs);
      expect(isRead).toBe(true);
      await soon(transaction);
    }
    await expect(editor.set([user("4")])).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    end();
    await ended;
    expect(await textsIn(store)).toEqual(["1", "2", "3"]);
  });

  test("is not copied by a fork", async () => {
    const store = inMemoryStore();
    const memory = open(store);
    await memory.add(user("0"));
    const { begun, end, ended } = holding(memory);
    await begun;
    const fork = await createChatMemories({ store }).fork("m", "f");
    expect(await fork.running()).toBe(false);
    end();
    await ended;
  });
});

describe("a turn that depends on what is there", () => {
  const question = () => entry(user("0"), { id: "q" });
  const missing = { code: "NOT_FOUND", details: { memoryId: "m", call: "turn" } };

  /** What a turn meets that waits for another one, if this happens meanwhile. */
  async function waiting(
    mustExist: boolean | Anchor,
    store: ChatMemoryStore,
    meanwhile: () => Promise<unknown>,
  ) {
    const holder = holding(open(store));
    await holder.begun;
    const turn = open(store)
      .turn(() => "begun", { mustExist })
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(100);
    await soon(meanwhile());
    const left = await store.getMessages("m");
    holder.end();
    await vi.advanceTimersByTimeAsync(1000);
    return { met: await turn, left };
  }

  test.each<[string, "memory" | "question" | true, (other: Memory) => Promise<unknown>]>([
    ["the memory", true, (other) => other.clear()],
    ["the memory of an anchor", "memory", (other) => other.clear()],
    [
      "the memory of an anchor, which has begun anew",
      "memory",
      async (other) => {
        await other.clear();
        await other.add(question());
      },
    ],
    ["the question of an anchor", "question", (other) => other.remove("q")],
  ])("does not begin, and writes nothing, if %s has gone while it waited", async (_what, on, meanwhile) => {
    const store = inMemoryStore();
    const other = open(store);
    await other.add(question(), assistant("1"));
    const mustExist = on === true || (await other.anchor(on === "memory" ? undefined : "q"));
    const { met, left } = await waiting(mustExist, store, () => meanwhile(other));
    expect(met).toMatchObject(missing);
    const { turn: _lease, ...head } = JSON.parse(left.head ?? "{}");
    expect(await headOf(store)).toEqual(head);
    expect((await store.getMessages("m")).messages).toEqual(left.messages);
  });

  test("begins while that is there, whatever else happens", async () => {
    const store = inMemoryStore();
    const other = open(store);
    await other.add(question());
    for (const mustExist of [true, await other.anchor(), await other.anchor("q")]) {
      const { met } = await waiting(mustExist, store, () => other.add(user("more")));
      expect(met).toBe("begun");
    }
  });

  test("begins no memory, and leaves none in the list; without the option it does", async () => {
    const memories = createChatMemories({ store: inMemoryStore() });
    const memory = memories.get("m");
    await expect(memory.turn(() => 1, { mustExist: true })).rejects.toMatchObject(missing);
    await vi.advanceTimersByTimeAsync(1000);
    expect((await memories.list()).memories).toEqual([]);
    // The one that was refused is in nobody's way.
    expect(await memory.turn(() => 1, { busy: "reject" })).toBe(1);
    expect((await memories.list()).memories).toHaveLength(1);
  });

  test("so it is in a memory that keeps itself", async () => {
    const memory = createChatMemory();
    const begin = (mustExist: boolean | Anchor) =>
      memory.turn(() => "begun", { mustExist, busy: "reject" }).catch(codeOf);
    expect(await begin(true)).toBe("NOT_FOUND");
    await memory.add(question());
    const former = await memory.anchor();
    expect([await begin(true), await begin(former)]).toEqual(["begun", "begun"]);
    await memory.clear();
    expect([await begin(former), await begin(true)]).toEqual(["NOT_FOUND", "NOT_FOUND"]);
    await memory.add(question());
    expect([await begin(former), await begin(true)]).toEqual(["NOT_FOUND", "begun"]);
  });

  test("what is no anchor is INVALID_OPTION", async () => {
    const wrong = open(inMemoryStore()).turn(() => 1, { mustExist: "m" as never });
    await expect(wrong).rejects.toMatchObject({ code: "INVALID_OPTION", message: /^mustExist/ });
  });
});

test("a memory that keeps itself needs no lease, and has turns like another", async () => {
  const memory = createChatMemory();
  await memory.add(user("0"));
  const turn = holding(memory);
  await turn.begun;
  await expect(memory.turn(() => 1, { busy: "reject" })).rejects.toMatchObject({ code: "BUSY" });
  expect([await memory.running(), await memory.requestStop()]).toEqual([true, true]);
  expect(turn.signal.reason).toMatchObject({ code: "ABORTED" });
  await memory.add(user("1"));
  await memory.clear();
  await expect(memory.add(user("late"))).rejects.toMatchObject({ code: "TURN_LOST" });
  turn.end();
  expect(await turn.ended).toBe("done");
  expect([await memory.running(), await memory.requestStop()]).toEqual([false, false]);
  await memory.add(user("2"));
  expect(await memory.entries()).toHaveLength(1);
});

describe("a request to stop", () => {
  test("fires the signal of a turn elsewhere within a second, and of one here at once", async () => {
    const store = inMemoryStore();
    const memory = open(store);
    expect(await memory.requestStop()).toBe(false);
    for (const other of [open(store), memory]) {
      const turn = holding(memory, { leaseMs: 30_000 });
      await vi.advanceTimersByTimeAsync(10);
      expect(await other.requestStop()).toBe(true);
      expect(await other.requestStop()).toBe(true);
      await vi.advanceTimersByTimeAsync(other === memory ? 0 : 1000);
      expect(turn.signal.reason).toMatchObject({ code: "ABORTED", message: /requestStop/ });
      turn.end();
      expect(await turn.ended).toBe("done");
      expect(await other.requestStop()).toBe(false);
    }
    const next = holding(memory);
    await vi.advanceTimersByTimeAsync(leaseMs);
    expect(next.signal.aborted).toBe(false);
    next.end();
    await next.ended;
  });

  test("survives renewals that do not know of it yet", async () => {
    const store = inMemoryStore();
    const memory = open(store);
    const turn = holding(memory, { leaseMs: 30_000 });
    await turn.begun;
    await open(store).requestStop();
    await vi.advanceTimersByTimeAsync(20_000);
    expect((await headOf(store)).turn).toMatchObject({ stop: true });
    turn.end();
    await turn.ended;
  });

  test("is seen within a second by a turn that has just written, too", async () => {
    const store = inMemoryStore();
    const memory = open(store);
    const turn = holding(memory);
    await turn.begun;
    await vi.advanceTimersByTimeAsync(900);
    await memory.add(user("1"));
    await open(store).requestStop();
    await vi.advanceTimersByTimeAsync(100);
    expect(turn.signal.reason).toMatchObject({ code: "ABORTED", message: /requestStop/ });
    turn.end();
    await turn.ended;
  });

  test("the reason of the signal tells it from the caller's", async () => {
    const caller = new AbortController();
    const turn = holding(createChatMemory(), { signal: caller.signal });
    await turn.begun;
    caller.abort("the user left");
    expect(turn.signal.reason).toBe("the user left");
    turn.end();
    expect(await turn.ended).toBe("done");
  });
});

describe("the end of a turn", () => {
  test("is not hidden by a store that is away, and the same object goes on at once", async () => {
    const store = inMemoryStore();
    let isAway = false;
    const memory = open(meeting(store, () => isAway && away()));
    const { begun, end, ended } = holding(memory);
    await begun;
    await open(store).requestStop();
    isAway = true;
    end();
    await vi.advanceTimersByTimeAsync(leaseMs);
    expect(await ended).toBe("done");
    isAway = false;
    expect(await open(store).running()).toBe(true);
    expect(await memory.running()).toBe(false);
    const next = holding(memory, { busy: "reject" });
    await next.begun;
    await open(store).add(user("1"));
    await memory.messages();
    expect(next.signal.aborted).toBe(false);
    next.end();
    await next.ended;
  });

  test("comes with close(): its signal fires, its lease is released, its writes are CLOSED", async () => {
    const store = inMemoryStore();
    const memory = open(store);
    const { begun, end, ended, ...turn } = holding(memory);
    await begun;
    const waiting = expect(memory.turn(() => "never")).rejects.toMatchObject({ code: "CLOSED" });
    await memory.close();
    expect((await headOf(store)).turn).toBeUndefined();
    await waiting;
    await expect(memory.add(user("late"))).rejects.toMatchObject({ code: "CLOSED" });
    end();
    expect(await ended).toBe("done");
    void turn;
  });

  test("a turn that its runtime has dropped is followed by the next one", async () => {
    const memory = createChatMemory();
    const { begun } = holding(memory);
    await begun;
    // With the request, all its timers are gone.
    vi.clearAllTimers();
    const next = memory.turn(() => "next");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await next).toBe("next");
  });
});

describe("faults of the store", () => {
  test("a lease whose commit was made, but not answered, is recognised behind what others wrote", async () => {
    const inner = inMemoryStore();
    await open(inner).add(user("0"));
    let isLost = false;
    const store = meeting(inner, async (method, isMade) => {
      if (isLost || method !== "updateMessages" || !isMade) return;
      isLost = true;
      await open(inner).add(user("1"));
      away();
    });
    const turn = holding(open(store));
    await vi.advanceTimersByTimeAsync(1);
    await turn.begun;
    expect((await headOf(inner)).turn).toMatchObject({ beat: 1 });
    turn.end();
    await turn.ended;
  });

  test("a lease whose commit was not answered keeps the request to end that came behind it", async () => {
    const inner = inMemoryStore();
    await open(inner).add(user("0"));
    let isLost = false;
    const store = meeting(inner, async (method, isMade) => {
      if (isLost || method !== "updateMessages" || !isMade) return;
      isLost = true;
      expect(await open(inner).requestStop()).toBe(true);
      away();
    });
    const turn = holding(open(store));
    await vi.advanceTimersByTimeAsync(2000);
    await turn.begun;
    expect(turn.signal.reason).toMatchObject({ code: "ABORTED" });
    turn.end();
    await turn.ended;
  });

  const faults = [1, 2, 3, 4, 5, 6].flatMap((number) =>
    [false, true].map((isMade) => [number, isMade] as const),
  );

  test.each(faults)("call %i fails, its work done: %s", async (number, isMade) => {
    let calls = 0;
    const inner = inMemoryStore();
    const store = meeting(inner, (_method, made) => {
      if (made === isMade && ++calls === number) away();
    });
    const memory = open(store);
    const turn = memory.turn(async () => {
      await memory.add(user("1"));
      await memory.add(assistant("2"));
      return "done";
    });
    await vi.advanceTimersByTimeAsync(40_000);
    expect(await turn).toBe("done");
    expect(await textsIn(inner)).toEqual(["1", "2"]);
    expect((await headOf(inner)).turn).toBeUndefined();
  });
});

test("a head that holds no lease as core writes it cannot be read", async () => {
  const store = inMemoryStore();
  const head = JSON.stringify({ v: 1, epoch: 0, life: "x", turn: { holder: 1 } });
  await store.updateMessages("m", {
    expected: null,
    version: "v1",
    nextSeq: 1,
    head,
    append: [],
    replace: [],
    move: [],
  });
  await expect(open(store).running()).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
});
