import { describe, expect, test } from "vitest";
import {
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

type Memory = ChatMemory<ModelMessage>;

const lost = new TurnkeepError("STORE_UNAVAILABLE", "the answer was lost");

const texts = async (memory: Memory): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);

/** A store whose first update is made; then something happens, and its answer is lost. */
function losing(store: ChatMemoryStore, meanwhile: () => Promise<unknown>): ChatMemoryStore {
  let isLost = false;
  return {
    ...store,
    updateMessages: async (id, update, options) => {
      await store.updateMessages(id, update, options);
      if (isLost) return;
      isLost = true;
      await meanwhile();
      throw lost;
    },
  };
}

/** Two messages, and an instance whose first answer will be lost after what `meanwhile` has somebody else do. */
async function setUp(meanwhile: (theirs: Memory) => Promise<unknown>, store = inMemoryStore()) {
  const theirs = createChatMemory({ id: "m", store });
  await theirs.add(entry(user("0"), { id: "0" }), entry(user("1"), { id: "1" }));
  const ours = createChatMemory({ id: "m", store: losing(store, () => meanwhile(theirs)) });
  return { ours, theirs };
}

describe("a change was made, its answer lost, and somebody else has written since", () => {
  const refused: [
    string,
    (ours: Memory) => Promise<unknown>,
    (theirs: Memory) => Promise<unknown>,
    unknown[],
  ][] = [
    ["a rewind, then an add", (ours) => ours.rewind("1"), (theirs) => theirs.add(user("2")), ["0", "2"]],
    [
      "an add under an id, then a put there",
      (ours) => ours.add(entry(user("x"), { id: "x" })),
      (theirs) => theirs.put("x", user("y")),
      ["0", "1", "y"],
    ],
    [
      "a set under an id, then a put there",
      (ours) => ours.set([entry(user("x"), { id: "x" })]),
      (theirs) => theirs.put("x", user("y")),
      ["y"],
    ],
    [
      "a compact, then one that reaches further",
      (ours) => ours.compact({ through: "0", replacement: user("sum") }),
      (theirs) => theirs.compact({ through: "1", replacement: user("more") }),
      ["more"],
    ],
  ];
  test.each(refused)(
    "%s: what stands in the way may be its own work",
    async (_name, change, meanwhile, shown) => {
      const { ours, theirs } = await setUp(meanwhile);
      await expect(change(ours)).rejects.toBe(lost);
      expect(await texts(theirs)).toEqual(shown);
    },
  );

  const gone: [string, (theirs: Memory) => Promise<unknown>, unknown[]][] = [
    [
      "removed",
      async (theirs) => {
        const { messages } = await theirs.history();
        for (const { id, seq } of messages) if (seq > 2) await theirs.remove(id);
      },
      ["0", "1"],
    ],
    [
      "cleared, and another memory begun",
      async (theirs) => {
        await theirs.clear();
        await theirs.add(user("new"));
      },
      ["new"],
    ],
    [
      "cleared, and another memory begun that has grown as long",
      async (theirs) => {
        await theirs.clear();
        await theirs.add(user("new"), user("newer"), user("newest"));
      },
      ["new", "newer", "newest"],
    ],
  ];
  const adds: [string, (ours: Memory) => Promise<unknown>][] = [
    ["added", (ours) => ours.add(user("x"))],
    ["added under an id", (ours) => ours.add(entry(user("x"), { id: "x" }))],
    ["put in place of another", (ours) => ours.put("1", user("x"))],
  ];
  describe.each(gone)("what was written has been %s", (how, meanwhile, shown) => {
    test.each(adds)("what was %s does not come back", async (what, add) => {
      const { ours, theirs } = await setUp(meanwhile);
      const isThere = how === "removed" && what.startsWith("put");
      if (isThere) await add(ours);
      else await expect(add(ours)).rejects.toBe(lost);
      expect(await texts(theirs)).toEqual(isThere ? ["0", "x"] : shown);
    });
  });

  test("a fork: its memory stands, and nobody is told that another has it", async () => {
    const store = inMemoryStore();
    await createChatMemory({ id: "m", store }).add(user("0"));
    const fork = createChatMemory({ id: "fork", store });
    const memories = createChatMemories({ store: losing(store, () => fork.add(user("1"))) });
    await expect(memories.fork("m", "fork")).rejects.toBe(lost);
    expect(await texts(fork)).toEqual(["0", "1"]);
  });

  test("without history, what a window has let go of since is not added twice", async () => {
    const store = inMemoryStore();
    const without: ChatMemoryStore = {
      ...store,
      capabilities: { ...store.capabilities, history: false },
    };
    const options = { id: "m", window: { maxMessages: 2 }, history: false };
    const theirs = createChatMemory({ ...options, store: without });
    await theirs.add(user("0"));
    const meanwhile = () => theirs.add(user("1"), user("2"));
    const ours = createChatMemory({ ...options, store: losing(without, meanwhile) });
    await expect(ours.add(user("x"))).rejects.toBe(lost);
    expect(await texts(theirs)).toEqual(["1", "2"]);
  });
});

test("what was refused while others wrote is made on the new state", async () => {
  const store = inMemoryStore();
  const theirs = createChatMemory({ id: "m", store });
  await theirs.add(user("0"));
  let refused = false;
  const refusing: ChatMemoryStore = {
    ...store,
    updateMessages: async (id, update, options) => {
      if (refused) return store.updateMessages(id, update, options);
      refused = true;
      await theirs.add(user("1"));
      throw lost;
    },
  };
  await createChatMemory({ id: "m", store: refusing }).add(user("2"));
  expect(await texts(theirs)).toEqual(["0", "1", "2"]);
});

test("time that runs out behind a conflict, while another attempt is under way, leaves open what that has done", async () => {
  const store = inMemoryStore();
  const theirs = createChatMemory({ id: "m", store });
  await theirs.add(user("0"));
  let raced = false;
  const hanging: ChatMemoryStore = {
    ...store,
    updateMessages: async (id, update, options) => {
      if (!raced) {
        await theirs.add(user("1"));
        raced = true;
        return store.updateMessages(id, update, options);
      }
      await store.updateMessages(id, update, options);
      return new Promise(() => {});
    },
  };
  const ours = createChatMemory({ id: "m", store: hanging, timeoutMs: 1_000 });
  await expect(ours.add(user("2"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(await texts(theirs)).toEqual(["0", "1", "2"]);
});
