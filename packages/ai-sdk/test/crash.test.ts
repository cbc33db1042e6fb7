import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  entry,
  inMemoryStore,
} from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import type { UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import type { Question } from "../src/chat-handler/posted.ts";
import { ask } from "../src/chat-handler/take.ts";

type Memory = ChatMemory<UIMessage>;

const question = (id: string, text: string): Question => ({
  id,
  role: "user",
  parts: [{ type: "text", text }],
});

const open = (store: ChatMemoryStore): Memory =>
  createChatMemory<UIMessage>({ id: "chat", store, format: uiMessageFormat<UIMessage>() });

/** A process that dies at the n-th call of its store, before or behind it: nothing that it waits for comes back. */
function dying(store: ChatMemoryStore, dieAt: number): { store: ChatMemoryStore; died: Promise<"died"> } {
  let steps = 0;
  let die = (_: "died"): void => {};
  const died = new Promise<"died">((resolve) => {
    die = resolve;
  });
  const step = async (): Promise<void> => {
    if (++steps < dieAt) return;
    die("died");
    await new Promise(() => undefined);
  };
  const around =
    <Given extends unknown[], T>(call: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      await step();
      const answer = await call(...given);
      await step();
      return answer;
    };
  const { getMessages, updateMessages, getHistory } = store;
  const calls = {
    getMessages: around(getMessages),
    updateMessages: around(updateMessages),
    getHistory: around(getHistory),
  };
  return { store: { ...store, ...calls }, died };
}

/** Every version of the second question is of its own branch; the newest is the conversation. */
async function branched(): Promise<{ store: ChatMemoryStore; seen: string }> {
  const store = await begun();
  const memory = open(store);
  await memory.rewind("q2");
  const answer: UIMessage = { id: "a3", role: "assistant", parts: [{ type: "text", text: "answer to q3" }] };
  await memory.add(entry<UIMessage>(question("q3", "q3"), { id: "q3" }), entry(answer, { id: "a3" }));
  return { store, seen: "a3" };
}

/** A conversation of two questions, both answered. */
async function begun(): Promise<ChatMemoryStore> {
  const store = inMemoryStore();
  const memory = open(store);
  for (const id of ["q1", "q2"]) {
    const { answer } = await ask(memory, question(id, id), undefined);
    await memory.put(answer.id, { ...answer, parts: [{ type: "text", text: `answer to ${id}` }] });
  }
  return store;
}

/** The live messages by their texts. */
async function shown(store: ChatMemoryStore): Promise<string[]> {
  const entries = await open(store).entries();
  return entries.map(({ message }) =>
    message.parts.map((part) => (part.type === "text" ? part.text : "")).join(),
  );
}

const asked = ["q1", "answer to q1", "q2", "answer to q2"];
const again = (text: string): string[] => [...asked.slice(0, 2), text, ""];

describe("a process that dies at any step while it takes a question in", () => {
  test.each([
    ["edited", question("q2", "edited"), again("edited")],
    ["asked again", question("q2", "q2"), again("q2")],
    ["new", question("q3", "q3"), [...asked, "q3", ""]],
  ])("that is %s leaves the conversation as it was, or as it is to be", async (_, message, wanted) => {
    const left = new Set<string>();
    for (let dieAt = 1; ; dieAt++) {
      const store = await begun();
      const process = dying(store, dieAt);
      const taken = ask(open(process.store), message, undefined);
      const isDead = (await Promise.race([taken, process.died])) === "died";
      const now = await shown(store);
      expect([asked, wanted], `died at ${dieAt}`).toContainEqual(now);
      left.add(now.join());
      // Who asks again after the crash gets on.
      const next = await ask(open(store), message, undefined);
      expect(next.messages.at(-1)?.parts).toEqual(message.parts);
      if (!isDead) break;
    }
    expect(left.size).toBe(2);
  });

  test.each([
    ["edited", question("q2", "edited"), "q1", again("edited")],
    ["asked again", question("q2", "q2"), "q1", again("q2")],
    ["new, behind its question", question("q4", "q4"), "q2", [...asked, "q4", ""]],
  ])(
    "of another branch that is %s leaves it there, or makes it the conversation",
    async (_, message, parentId, wanted) => {
      const left = new Set<string>();
      for (let dieAt = 1; ; dieAt++) {
        const { store, seen } = await branched();
        const before = await shown(store);
        const process = dying(store, dieAt);
        const taken = ask(open(process.store), message, seen, parentId);
        const isDead = (await Promise.race([taken, process.died])) === "died";
        const now = await shown(store);
        expect([before, wanted], `died at ${dieAt}`).toContainEqual(now);
        left.add(now.join());
        if (!isDead) break;
      }
      expect(left.size).toBe(2);
    },
  );
});
