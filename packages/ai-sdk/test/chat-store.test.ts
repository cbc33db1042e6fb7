import { type ChatMemories, createChatMemories, inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { chatStore } from "../src/index.ts";

function memoriesOf(): ChatMemories<UIMessage> {
  return createChatMemories({
    store: inMemoryStore(),
    format: uiMessageFormat<UIMessage>(),
    window: { maxMessages: 2, unit: "turn" },
  });
}

function said(id: string, text: string): UIMessage {
  return { id, role: id.startsWith("q") ? "user" : "assistant", parts: [{ type: "text", text }] };
}

const idsOf = (messages: readonly UIMessage[]): string[] => messages.map(({ id }) => id);

const turns = (...numbers: number[]): UIMessage[] =>
  numbers.flatMap((number) => [said(`q${number}`, `${number}?`), said(`a${number}`, `${number}.`)]);

test("saves a chat as the guide does, and loads all of it, whatever its window shows", async () => {
  const memories = memoriesOf();
  const { createChat, loadChat, saveChat } = chatStore({ memories, owner: "ann" });
  const chatId = await createChat();
  expect(await loadChat(chatId)).toEqual([]);
  for (const count of [1, 2, 3]) {
    await saveChat({ chatId, messages: turns(...[1, 2, 3].slice(0, count)) });
  }
  expect(await loadChat(chatId)).toEqual(turns(1, 2, 3));
  expect(await memories.get(chatId).messages()).toEqual(turns(3));
  // What is loaded may be changed.
  const loaded = await loadChat(chatId);
  loaded.pop();
  (loaded[0] as UIMessage).parts.pop();
  expect(await loadChat(chatId)).toEqual(turns(1, 2, 3));
});

test("a save writes what is new or changed, and nothing twice", async () => {
  const memories = memoriesOf();
  const { loadChat, saveChat } = chatStore({ memories, owner: async () => "ann" });
  await saveChat({ chatId: "c", messages: [said("q1", "1?")] });
  await saveChat({ chatId: "c", messages: [said("q1", "1?"), said("a1", "1")] });
  await saveChat({ chatId: "c", messages: turns(1) });
  await saveChat({ chatId: "c", messages: turns(1) });
  expect(await loadChat("c")).toEqual(turns(1));
  expect((await memories.get("c").history()).messages).toHaveLength(2);
});

test("two devices that know nothing of each other's turn lose none", async () => {
  const { loadChat, saveChat } = chatStore({ memories: memoriesOf(), owner: "ann" });
  await saveChat({ chatId: "c", messages: turns(1) });
  await saveChat({ chatId: "c", messages: turns(1, 2) });
  await saveChat({ chatId: "c", messages: turns(1, 3) });
  expect(idsOf(await loadChat("c"))).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);
  // Nor does an answer that one makes anew while the other has gone on.
  await saveChat({ chatId: "c", messages: [said("q1", "1?"), said("a1b", "One.")] });
  expect(idsOf(await loadChat("c"))).toEqual(["q1", "a1", "q2", "a2", "q3", "a3", "a1b"]);
});

test("saves of several devices at once all land", async () => {
  const { loadChat, saveChat } = chatStore({ memories: memoriesOf(), owner: "ann" });
  await saveChat({ chatId: "c", messages: turns(1) });
  await Promise.all([2, 3, 4].map((number) => saveChat({ chatId: "c", messages: turns(1, number) })));
  expect(idsOf(await loadChat("c")).sort()).toEqual(idsOf(turns(1, 2, 3, 4)).sort());
});

test("an answer that is made anew takes back no turn that another process saves at that moment", async () => {
  const store = inMemoryStore();
  const one = createChatMemories({ store, format: uiMessageFormat<UIMessage>() });
  const other = createChatMemories({ store, format: uiMessageFormat<UIMessage>() });
  const [left, right] = [one, other].map((memories) => chatStore({ memories, owner: "ann" }));
  await left?.saveChat({ chatId: "c", messages: turns(1) });
  const memory = one.get("c", { owner: "ann" });
  const { historyPages } = memory;
  memory.historyPages = (query) => {
    memory.historyPages = historyPages;
    const read = memory.historyPages(query);
    return (async function* () {
      yield* read;
      await right?.saveChat({ chatId: "c", messages: turns(1, 2) });
    })() as ReturnType<typeof historyPages>;
  };
  await left?.saveChat({ chatId: "c", messages: [said("q1", "1?"), said("a1b", "One.")] });
  expect(idsOf((await left?.loadChat("c")) ?? [])).toEqual(["q1", "a1", "q2", "a2", "a1b"]);
});

test("an answer that is made anew takes the other's place", async () => {
  const memories = memoriesOf();
  const { loadChat, saveChat } = chatStore({ memories, owner: "ann" });
  await saveChat({ chatId: "c", messages: turns(1, 2) });
  const again = [...turns(1), said("q2", "2?"), said("a2b", "Two.")];
  await saveChat({ chatId: "c", messages: again });
  expect(await loadChat("c")).toEqual(again);
  const { messages } = await memories.get("c").history({ states: ["superseded"] });
  expect(messages.map(({ message }) => message)).toEqual([said("a2", "2.")]);
});

test("a device that shows a call as it waited takes nothing of its result away", async () => {
  const { loadChat, saveChat } = chatStore({ memories: memoriesOf(), owner: "ann" });
  const call = { type: "tool-book", toolCallId: "c1", input: {} } as const;
  const answered = (part: object, text?: string): UIMessage => ({
    id: "a1",
    role: "assistant",
    parts: [
      { ...call, ...part } as unknown as UIMessage["parts"][number],
      ...(text ? [{ type: "text" as const, text }] : []),
    ],
  });
  const waits = answered({ state: "approval-requested", approval: { id: "p" } });
  const approval = { id: "p", approved: true };
  for (const [chatId, over] of Object.entries({
    done: answered({ state: "output-available", output: "yes", approval }, "Booked."),
    failed: answered({ state: "output-error", errorText: "Sold out.", approval }),
    denied: answered({ state: "output-denied", approval: { id: "p", approved: false } }, "As you like."),
  })) {
    await saveChat({ chatId, messages: [said("q1", "1?"), waits] });
    await saveChat({ chatId, messages: [said("q1", "1?"), over] });
    await saveChat({ chatId, messages: [said("q1", "1?"), waits, ...turns(2)] });
    expect(await loadChat(chatId)).toEqual([said("q1", "1?"), over, ...turns(2)]);
  }
  // A result may be another one, as an application that shortens it makes it.
  const shorter = answered({ state: "output-available", output: "y", approval }, "Booked.");
  await saveChat({ chatId: "done", messages: [said("q1", "1?"), shorter] });
  expect((await loadChat("done"))[1]).toEqual(shorter);
});

test("an edited question takes back what stands behind it, under the id that the browser keeps", async () => {
  const { loadChat, saveChat } = chatStore({ memories: memoriesOf(), owner: "ann" });
  await saveChat({ chatId: "c", messages: turns(1, 2, 3) });
  const edited = [...turns(1), said("q2", "Two?"), said("a2b", "Two.")];
  await saveChat({ chatId: "c", messages: edited });
  expect(await loadChat("c")).toEqual(edited);
  const twice = [...turns(1), said("q2", "2??"), said("a2c", "Two!")];
  await saveChat({ chatId: "c", messages: twice });
  expect(await loadChat("c")).toEqual(twice);
});

test("what a save takes back and names all the same stands behind, as it is named", async () => {
  const { loadChat, saveChat } = chatStore({ memories: memoriesOf(), owner: "ann" });
  await saveChat({ chatId: "c", messages: turns(1, 2) });
  const reordered = [said("q2", "2?"), said("a2", "Two."), said("q1", "One?"), said("a1", "1.")];
  await saveChat({ chatId: "c", messages: reordered });
  expect(await loadChat("c")).toEqual(reordered);
  await saveChat({ chatId: "d", messages: turns(1) });
  const both = [said("q1", "1?"), said("a1b", "One."), said("a1", "1.")];
  await saveChat({ chatId: "d", messages: both });
  expect(await loadChat("d")).toEqual(both);
});

test("a chat of somebody else is refused, and so is what is no option", async () => {
  const memories = memoriesOf();
  await chatStore({ memories, owner: "ann" }).saveChat({ chatId: "c", messages: turns(1) });
  const bobs = chatStore({ memories, owner: "bob" });
  for (const refused of [bobs.loadChat("c"), bobs.saveChat({ chatId: "c", messages: turns(2) })]) {
    const error = await refused.catch((error: unknown) => error);
    expect(isTurnkeepError(error, "OWNER_MISMATCH")).toBe(true);
  }
  expect(() => chatStore({ memories: {} as never, owner: "ann" })).toThrow("createChatMemories");
  expect(() => chatStore({ memories, owner: undefined as never })).toThrow("owner");
  const others = createChatMemories({ store: inMemoryStore() }) as unknown as ChatMemories<UIMessage>;
  await expect(chatStore({ memories: others, owner: "ann" }).loadChat("c")).rejects.toThrow(
    "uiMessageFormat",
  );
});
