import { describe, expect, test } from "vitest";
import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  type MemoryEvent,
  type ModelMessage,
  TurnkeepError,
  user,
} from "../src/index.ts";
import { meeting } from "./meeting-store.ts";

type Memory = ChatMemory<ModelMessage>;

const away = new TurnkeepError("STORE_UNAVAILABLE", "the connection broke");

/**
 * A store that deletes in two steps: first the memory, so that it shows no more, then its rows. As often as `stops` says, it
 * ends between the two.
 */
class SteppingStore {
  readonly inner: ChatMemoryStore = inMemoryStore();
  /** The memories whose rows a deletion has left. */
  readonly left: Set<string> = new Set();
  /** What each deletion expected. */
  readonly expected: (string | undefined)[] = [];
  stops = 0;
  readonly store: ChatMemoryStore = {
    ...this.inner,
    deleteMessages: async (id, options) => {
      this.expected.push(options?.expected);
      const { version } = await this.inner.getMessages(id);
      await this.inner.deleteMessages(id, options);
      if (version !== null) this.left.add(id);
      if (this.stops-- > 0) throw away;
      this.left.delete(id);
    },
  };

  async begin(id = "m"): Promise<string | null> {
    await createChatMemory({ id, store: this.inner, owner: "ann" }).add(user("secret"));
    return (await this.inner.getMessages(id)).version;
  }
}

const deletions: [string, (store: ChatMemoryStore) => Promise<unknown>][] = [
  ["clear", (store) => createChatMemory({ id: "m", store }).clear()],
  ["erase", (store) => createChatMemories({ store }).erase({ owner: "ann" })],
];

describe("a deletion that stopped half-way", () => {
  test.each(deletions)("goes on where it stopped: %s", async (_, remove) => {
    const stepping = new SteppingStore();
    const version = await stepping.begin();
    stepping.stops = 2;
    await remove(stepping.store);
    expect(stepping.left).toEqual(new Set());
    expect(stepping.expected).toEqual([version, version, version]);
  });

  test("is gone on with by another clear, of whomever, and told by each that ends well", async () => {
    const stepping = new SteppingStore();
    await stepping.begin();
    stepping.stops = 1;
    const events: MemoryEvent[] = [];
    const options = {
      id: "m",
      store: stepping.store,
      onEvent: (event: MemoryEvent) => void events.push(event),
    };
    await expect(createChatMemory({ ...options, retry: false }).clear()).rejects.toThrow(away.message);
    expect([stepping.left, events]).toEqual([new Set(["m"]), []]);
    await createChatMemory({ ...options, owner: "ann" }).clear();
    expect([stepping.left, events]).toEqual([new Set(), [{ type: "cleared", memoryId: "m" }]]);
  });

  test("that cannot be ended is an error, not a success", async () => {
    const stepping = new SteppingStore();
    await stepping.begin();
    stepping.stops = Number.POSITIVE_INFINITY;
    const clear = createChatMemory({ id: "m", store: stepping.store, timeoutMs: 200 }).clear();
    await expect(clear).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

describe("a deletion of what is not there", () => {
  test("reaches the store once, by a version that no memory has", async () => {
    const stepping = new SteppingStore();
    const memory = createChatMemory({ id: "m", store: stepping.store });
    for (let time = 0; time < 2; time++) await memory.clear();
    expect(stepping.expected).toEqual([expect.any(String), expect.any(String)]);
    expect(new Set(stepping.expected).size).toBe(2);
  });

  const begun: [string, (store: ChatMemoryStore, stepping: SteppingStore) => Promise<Memory>][] = [
    ["a clear", async (store) => createChatMemory({ id: "m", store })],
    [
      "the repeat of a clear that stopped",
      async (store, stepping) => {
        await stepping.begin();
        stepping.stops = 1;
        return createChatMemory({ id: "m", store });
      },
    ],
  ];
  test.each(begun)("%s, leaves a memory that begins before the store is reached", async (_, prepare) => {
    const stepping = new SteppingStore();
    let isAbsent = false;
    let reached = 0;
    const racing = meeting(stepping.store, async (method, isMade) => {
      if (method === "getMessages" && isMade)
        isAbsent = (await stepping.inner.getMessages("m")).version === null;
      if (method !== "deleteMessages" || isMade || !isAbsent || reached++ > 0) return;
      await stepping.begin();
    });
    const memory = await prepare(racing, stepping);
    await memory.clear();
    expect(reached).toBe(1);
    const left = createChatMemory({ id: "m", store: stepping.inner });
    expect(await left.messages()).toEqual([user("secret")]);
  });
});
