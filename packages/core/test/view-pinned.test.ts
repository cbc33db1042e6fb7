import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  createChatMemory,
  entry,
  inMemoryStore,
  type ModelMessage,
  system,
  toolCall,
  toolResult,
  user,
  type WindowOptions,
} from "../src/index.ts";

const window = (options: WindowOptions<ModelMessage>): WindowOptions<ModelMessage> => options;

/** A turn of that many calls behind a question, in a memory with a system message. */
async function turnOf(
  calls: number,
  options: WindowOptions<ModelMessage>,
): Promise<ChatMemory<ModelMessage>> {
  const memory = createChatMemory({ id: "m", store: inMemoryStore(), window: options });
  await memory.add(system("Be brief."), user("Before"), assistant("Yes?"), entry(user("Go"), { id: "q" }));
  for (let n = 1; n <= calls; n++) {
    await memory.add(entry(toolCall(`c${n}`, "t", {}), { id: `a${n}` }));
    await memory.add(entry(toolResult(`c${n}`, "t", "r"), { id: `r${n}` }));
  }
  return memory;
}

/** The messages in short: a text, a call's id, or `r` with the id of the call that it answers. */
const shown = (messages: readonly ModelMessage[]): string[] =>
  messages.map(({ role, content }) => {
    if (typeof content === "string") return content;
    const [part] = content;
    const id = part !== undefined && "toolCallId" in part ? part.toolCallId : "";
    return role === "tool" ? `r ${id}` : id;
  });

test.each(["step", "turn", "message"] as const)(
  "what the window pins is shown although no question stands before it (unit %s)",
  async (unit) => {
    const pinned = ({ role, content }: ModelMessage) => role === "system" || content === "Welcome!";
    const memory = createChatMemory({ window: { maxMessages: 4, unit, pinned } });
    await memory.add(system("Be brief."), assistant("Welcome!"), user("1"), assistant("2"));
    expect(shown(await memory.messages())).toEqual(["Be brief.", "Welcome!", "1", "2"]);
    await memory.add(user("3"));
    expect(shown(await memory.messages()).slice(0, 2)).toEqual(["Be brief.", "Welcome!"]);
  },
);

test("by turn, an answer in front is left out where only the prompt is pinned", async () => {
  const pinned = ({ role }: ModelMessage) => role === "system";
  const memory = createChatMemory({ window: { maxMessages: 4, unit: "turn", pinned } });
  await memory.add(system("Be brief."), assistant("Welcome!"), user("1"), assistant("2"));
  expect(shown(await memory.messages())).toEqual(["Be brief.", "1", "2"]);
});

describe("a view that pins messages", () => {
  test.each(["step", "message"] as const)(
    "shows one that has left memory where it was, and hides others for it (unit %s)",
    async (unit) => {
      const memory = await turnOf(3, window({ maxMessages: 5, unit }));
      expect(shown(await memory.messages())).toEqual(["Be brief.", "c2", "r c2", "c3", "r c3"]);
      expect(shown(await memory.messages({ pinned: ["q"] }))).toEqual(["Be brief.", "Go", "c3", "r c3"]);
      // For this view only.
      expect(shown(await memory.messages())).toEqual(["Be brief.", "c2", "r c2", "c3", "r c3"]);
    },
  );

  test.each(["a1", "r1"])("shows the whole step of one that has left memory: %s", async (id) => {
    const memory = await turnOf(3, window({ maxMessages: 5 }));
    expect(shown(await memory.messages({ pinned: [id] }))).toEqual(["Be brief.", "c1", "r c1", "c3", "r c3"]);
  });

  test.each([
    ["step", "throw"],
    ["step", "evict"],
    ["turn", "evict"],
    ["message", "evict"],
  ] as const)("says what they need if they do not fit (unit %s, overflow %s)", async (unit, overflow) => {
    const memory = await turnOf(1, window({ maxMessages: 3, unit, overflow }));
    await expect(memory.messages({ pinned: ["q", "a1", "r1"] })).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
      details: { memoryId: "m", needed: 4, limit: 3 },
    });
    expect(await memory.explain({ pinned: ["q", "a1", "r1"] })).toMatchObject({
      overflow: { needed: 4, limit: 3 },
    });
  });

  test.each(["step", "message"] as const)(
    "shows them all the same with overflow keep (unit %s)",
    async (unit) => {
      const memory = await turnOf(1, window({ maxMessages: 2, unit, overflow: "keep" }));
      const pinned = ["q", "a1", "r1"];
      expect(shown(await memory.messages({ pinned }))).toEqual(["Be brief.", "Go", "c1", "r c1"]);
    },
  );

  test.each(["step", "turn"] as const)(
    "begins with an answer whose question has left memory (unit %s)",
    async (unit) => {
      const memory = createChatMemory({
        id: "m",
        store: inMemoryStore(),
        window: { maxMessages: 4, unit },
      });
      await memory.add(system("Be brief."), user("1"), entry(assistant("2"), { id: "a" }), user("3"));
      await memory.add(assistant("4"), user("5"));
      expect(shown(await memory.messages({ pinned: ["a"] }))).toEqual(
        unit === "step" ? ["Be brief.", "2", "4", "5"] : ["Be brief.", "2", "5"],
      );
      const { messages } = await memory.explain({ pinned: ["a"] });
      expect(messages.filter(({ id }) => id === "a")).toMatchObject([{ state: "shown" }]);
    },
  );

  test("keeps one that is in memory from a limit that has shrunk since", async () => {
    let maxMessages = 10;
    const memory = await turnOf(2, window({ maxMessages: () => maxMessages }));
    maxMessages = 4;
    expect(shown(await memory.messages())).toEqual(["Be brief.", "c2", "r c2"]);
    expect(shown(await memory.messages({ pinned: ["q"] }))).toEqual(["Be brief.", "Go", "c2", "r c2"]);
    const { messages } = await memory.explain({ pinned: ["q"] });
    expect(messages.filter(({ id }) => id === "q")).toMatchObject([{ state: "shown" }]);
  });

  test("reads history only for what is not in memory", async () => {
    const store = inMemoryStore();
    let reads = 0;
    const counting: typeof store = {
      ...store,
      getHistory: (...args) => {
        reads++;
        return store.getHistory(...args);
      },
    };
    const memory = createChatMemory({ id: "m", store: counting, window: { maxMessages: 2 } });
    const [first] = await memory.add(user("One"));
    await memory.add(assistant("Two"));
    await memory.messages({ pinned: [first] });
    expect(reads).toBe(0);
    await memory.add(user("Three"));
    expect(shown(await memory.messages({ pinned: [first] }))).toEqual(["One", "Three"]);
    expect(reads).toBe(1);
  });

  test("cannot show one that is gone, be it rewound, removed or left behind without history", async () => {
    const gone = { code: "NOT_FOUND", details: { memoryId: "m", messageIds: ["q"] } };
    const rewound = await turnOf(1, window({ maxMessages: 10 }));
    await rewound.rewind("q");
    await expect(rewound.messages({ pinned: ["q"] })).rejects.toMatchObject(gone);
    const removed = await turnOf(1, window({ maxMessages: 10 }));
    await removed.remove("q");
    await expect(removed.messages({ pinned: ["q"] })).rejects.toMatchObject(gone);
    const memory = createChatMemory({
      id: "m",
      store: inMemoryStore(),
      history: false,
      window: { maxMessages: 1 },
    });
    await memory.add(entry(user("Go"), { id: "q" }));
    await memory.add(assistant("Yes"));
    await expect(memory.messages({ pinned: ["q"] })).rejects.toMatchObject(gone);
  });

  test.each([["q"], [[5]], [[""]]])("takes a list of ids alone: %j", async (pinned) => {
    const shown = createChatMemory().messages({ pinned: pinned as never });
    await expect(shown).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });
});
