import { describe, expect, test, vi } from "vitest";
import {
  type ChatMemories,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  type MemoryEvent,
  type ModelMessage,
  system,
  TurnkeepError,
  user,
} from "../src/index.ts";
import { losing, meeting, refusing } from "./meeting-store.ts";

type Memory = ChatMemory<ModelMessage>;
type Told = Record<string, unknown>;

const message = (id: string) => entry(user(`secret ${id}`), { id });

/** What is told of a change, with the names of messages. */
async function toldOf(
  change: (memory: Memory) => Promise<unknown>,
  { window, history }: { readonly window?: { maxMessages: number }; readonly history?: boolean } = {},
): Promise<Told[]> {
  const store = inMemoryStore();
  const policy = { id: "m", store, history, window };
  await createChatMemory(policy).add(system("prompt"), message("a"), message("b"), message("c"));
  const events: MemoryEvent[] = [];
  await change(createChatMemory({ ...policy, onEvent: (event) => events.push(event) }));
  expect(JSON.stringify(events)).not.toContain("secret");
  return events.map(({ memoryId, ...event }) => {
    expect(memoryId).toBe("m");
    if (event.type !== "committed") return event;
    expect(event.durationMs).toBeGreaterThanOrEqual(0);
    const { durationMs: _, ...rest } = event;
    return rest;
  });
}

const committed = { type: "committed", attempts: 1 };
const ids = (type: string, ...messageIds: string[]): Told => ({ type, messageIds });

describe("what a change has done is told once it is stored", () => {
  test.each<[string, (memory: Memory) => Promise<unknown>, Told[]]>([
    ["add", (memory) => memory.add(message("d"), message("e")), [ids("added", "d", "e"), committed]],
    ["put in place", (memory) => memory.put("b", user("secret")), [ids("replaced", "b"), committed]],
    ["a new put", (memory) => memory.put("x", user("secret")), [ids("added", "x"), committed]],
    ["remove", (memory) => memory.remove("b"), [ids("removed", "b"), committed]],
    ["rewind", (memory) => memory.rewind("b"), [ids("rewound", "b", "c"), committed]],
    [
      "compact",
      (memory) => memory.compact({ through: "b", replacement: user("secret") }),
      [{ ...ids("evicted", "a", "b"), reason: "compact" }, committed],
    ],
    ["clear", (memory) => memory.clear(), [{ type: "cleared" }]],
    [
      "an edit",
      (memory) =>
        memory.transaction((edit) => {
          edit.rewind("b");
          edit.add(message("d"));
          edit.put("a", user("secret"));
        }),
      [ids("added", "d"), ids("replaced", "a"), ids("rewound", "b", "c"), committed],
    ],
    [
      "what the same transaction takes away again",
      (memory) =>
        memory.transaction((edit) => {
          edit.add(message("d"));
          edit.put("d", user("secret"));
          edit.put("a", user("secret"));
          edit.remove("d");
          edit.remove("a");
        }),
      [ids("removed", "a"), committed],
    ],
    ["nothing new", (memory) => memory.add(message("c")), []],
    ["nothing", (memory) => memory.remove("unknown"), []],
    ["a look", (memory) => memory.messages(), []],
    ["a turn that changes nothing", (memory) => memory.turn(() => undefined), []],
  ])("%s", async (_, change, told) => {
    expect(await toldOf(change)).toEqual(told);
  });

  test("eviction, in a memory without history too", async () => {
    const window = { maxMessages: 4 };
    for (const history of [true, false]) {
      const evicted = { ...ids("evicted", "a"), reason: "window" };
      expect(await toldOf((memory) => memory.add(message("d")), { window, history })).toEqual([
        ids("added", "d"),
        evicted,
        committed,
      ]);
    }
  });

  test("one that comes back by a rewind of the same transaction was not evicted", async () => {
    const edit = (memory: Memory): Promise<unknown> =>
      memory.transaction((change) => {
        change.add(message("d"));
        change.rewind("c");
        change.add(message("e"));
      });
    expect(await toldOf(edit, { window: { maxMessages: 4 } })).toEqual([
      ids("added", "d", "e"),
      ids("rewound", "c", "d"),
      committed,
    ]);
  });

  test("erase tells each memory that it has erased", async () => {
    const events: MemoryEvent[] = [];
    const memories = createChatMemories({
      store: inMemoryStore(),
      owner: "ann",
      onEvent: (event) => events.push(event),
    });
    for (const id of ["1", "2"]) await memories.get(id).add(user("Hello"));
    events.length = 0;
    await memories.erase({ owner: "ann" });
    expect(events).toEqual([
      { type: "erased", memoryId: "1" },
      { type: "erased", memoryId: "2" },
    ]);
  });
});

describe("once for each change", () => {
  const lost = new TurnkeepError("STORE_UNAVAILABLE", "the answer was lost");

  /** A store that makes each first update, and another's behind it, then loses the answer or reports a conflict. */
  function failing(store: ChatMemoryStore, error: TurnkeepError): ChatMemoryStore {
    let isLost = false;
    return {
      ...store,
      updateMessages: async (...given) => {
        await store.updateMessages(...given);
        if (isLost) return;
        isLost = true;
        await createChatMemory({ id: "m", store }).add(user("theirs"));
        throw error;
      },
    };
  }

  test.each([
    ["whose answer was lost", lost],
    ["that met a conflict with itself", new TurnkeepError("VERSION_CONFLICT", "sent twice")],
  ])("also one %s", async (_, error) => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    try {
      const events: MemoryEvent[] = [];
      const store = failing(inMemoryStore(), error);
      await createChatMemory({ id: "m", store, onEvent: (event) => events.push(event) }).add(message("a"));
      expect(events).toMatchObject([{ ...ids("added", "a") }, { type: "committed", attempts: 1 }]);
    } finally {
      vi.restoreAllMocks();
    }
  });

  /** What is told of a change whose first answers are lost behind what others do; before, `a` was left for `b` and `c`. */
  async function toldBehind(
    change: (memory: Memory, memories: ChatMemories<ModelMessage>) => Promise<unknown>,
    lose: (store: ChatMemoryStore, theirs: Memory) => ChatMemoryStore,
  ): Promise<Told[]> {
    const inner = inMemoryStore();
    const policy = { window: { maxMessages: 2 } };
    const theirs = createChatMemory({ id: "m", store: inner, ...policy });
    await theirs.add(old("0"), old("a"));
    await theirs.rewind("a");
    await theirs.add(old("b"), old("c"));
    const events: MemoryEvent[] = [];
    const onEvent = (event: MemoryEvent) => void events.push(event);
    const memories = createChatMemories({ store: lose(inner, theirs), ...policy, onEvent });
    await change(memories.get("m"), memories);
    return events.map(({ type, ...event }) =>
      type === "committed" ? { type, attempts: "attempts" in event && event.attempts } : { type, ...event },
    );
  }

  const old = (id: string) => entry(user(`secret ${id}`), { id, createdAt: 1 });
  const add = (theirs: Memory) => () => theirs.add(message("theirs"));
  const prune = (_: Memory, memories: ChatMemories<ModelMessage>) => memories.prune({ olderThanMs: 0 });
  type Change = Parameters<typeof toldBehind>[0];
  type Lose = Parameters<typeof toldBehind>[1];

  test.each<[string, Change, Lose, Told[]]>([
    [
      "a removal that was made",
      (memory) => memory.remove("b"),
      (store, theirs) => losing(store, add(theirs)),
      [ids("removed", "b")],
    ],
    [
      "a removal that was not made",
      (memory) => memory.remove("b"),
      (store, theirs) => refusing(store, add(theirs)),
      [ids("removed", "b")],
    ],
    [
      "a removal that others made",
      (memory) => memory.remove("b"),
      (store, theirs) => refusing(store, () => theirs.remove("b")),
      [ids("removed", "b")],
    ],
    [
      "a prune that goes on with what others let go of",
      prune,
      (store, theirs) => losing(store, add(theirs)),
      [ids("removed", "0", "a", "b")],
    ],
    [
      "a prune that loses two answers",
      prune,
      (store, theirs) => {
        const more = ["1", "2"];
        return meeting(store, async (method, isMade) => {
          const id = method === "updateMessages" && isMade && more.shift();
          if (typeof id !== "string") return;
          await theirs.add(old(id));
          throw lost;
        });
      },
      [ids("removed", "0", "a", "b", "c")],
    ],
    [
      "a restore that was made, of what others have evicted since",
      (memory) => memory.restore("a"),
      (store, theirs) => losing(store, () => theirs.add(message("1"), message("2"))),
      [ids("rewound", "b", "c"), ids("restored", "a")],
    ],
    [
      "a shrink that was made",
      (memory) => memory.shrink({ target: 0.9 }),
      (store, theirs) => losing(store, () => theirs.update("said")),
      [{ ...ids("evicted", "b"), reason: "shrink" }],
    ],
  ])("and of what leaves nothing behind, its answer lost behind what others wrote: %s", async (...given) => {
    const [, change, lose, told] = given;
    const events = await toldBehind(change, lose);
    const [end, ...rest] = events.toReversed();
    expect(rest.toReversed()).toMatchObject(told);
    expect(end).toMatchObject({ type: "committed" });
  });

  test("one that met others counts its attempts, and tells of the last", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    try {
      const store = inMemoryStore();
      const events: MemoryEvent[] = [];
      const ours = createChatMemory({ id: "m", store, onEvent: (event) => events.push(event) });
      await ours.add(message("a"));
      await createChatMemory({ id: "m", store }).add(message("b"));
      events.length = 0;
      await ours.rewind("a");
      expect(events).toMatchObject([
        { type: "conflict", attempt: 1 },
        ids("rewound", "a", "b"),
        { type: "committed", attempts: 2 },
      ]);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test("of a change that was refused, nothing", async () => {
    const events: MemoryEvent[] = [];
    const store: ChatMemoryStore = {
      ...inMemoryStore(),
      updateMessages: () => Promise.reject(new TurnkeepError("STORE_REFUSED", "read-only")),
    };
    const memory = createChatMemory({ id: "m", store, onEvent: (event) => events.push(event) });
    await expect(memory.add(message("a"))).rejects.toMatchObject({ code: "STORE_REFUSED" });
    expect(events).toEqual([]);
  });
});
