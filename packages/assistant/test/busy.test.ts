import { createChatMemory, type ModelMessage } from "@turnkeep/core";
import { gate } from "@turnkeep/store-tests/gate";
import { expect, test } from "vitest";
import { createAssistant } from "../src/index.ts";
import { assistant, scripted, user } from "./script.ts";

/** An answer that comes when it is told to. */
function held(text: string): { readonly answer: () => Promise<ModelMessage>; readonly release: () => void } {
  const { opened, open } = gate();
  return { answer: () => opened.then(() => assistant(text)), release: open };
}

test("a chat waits for the turn before it, whichever assistant runs it", async () => {
  const first = held("1");
  const memory = createChatMemory();
  const model = scripted(first.answer);
  const later = scripted(assistant("2"), assistant("3"));
  const one = createAssistant({ model, memory }).chat("a");
  const other = createAssistant({ model: later, memory });
  const two = other.chat("b");
  const three = other.chat("c");
  await expect.poll(() => model.requests.length).toBe(1);
  expect(later.requests).toHaveLength(0);
  first.release();
  expect((await Promise.all([one, two, three])).map(({ text }) => text)).toEqual(["1", "2", "3"]);
  expect((await memory.messages()).map(({ content }) => content)).toEqual(["a", "1", "b", "2", "c", "3"]);
});

test("or is refused, with busy: reject, until that turn is over", async () => {
  const first = held("1");
  const memory = createChatMemory();
  const model = scripted(first.answer, new Error("timeout"), assistant("3"));
  const chat = createAssistant({ model, memory, busy: "reject" });
  const one = chat.chat("a");
  await expect(chat.chat("b")).rejects.toMatchObject({ code: "BUSY", details: { memoryId: "default" } });
  first.release();
  await one;
  await expect(chat.chat("c")).rejects.toThrow("timeout");
  expect((await chat.chat("d")).text).toBe("3");
  expect((await memory.messages())[0]).toEqual(user("a"));
});

test("one that is aborted while it waits lets nobody in too early", async () => {
  const first = held("1");
  const memory = createChatMemory();
  const model = scripted(first.answer, assistant("3"));
  const chat = createAssistant({ model, memory });
  const controller = new AbortController();
  const one = chat.chat("a");
  const two = chat.chat("b", { signal: controller.signal });
  const three = chat.chat("c");
  await expect.poll(() => model.requests.length).toBe(1);
  controller.abort();
  await expect(two).rejects.toMatchObject({ code: "ABORTED" });
  expect(model.requests).toHaveLength(1);
  first.release();
  await Promise.all([one, three]);
  expect((await memory.messages()).map(({ content }) => content)).toEqual(["a", "1", "c", "3"]);
});

test("the same question twice at once is one turn, if both have its id", async () => {
  const memory = createChatMemory();
  const model = scripted(assistant("1"));
  const chat = createAssistant({ model, memory });
  const both = await Promise.all([chat.chat("a", { id: "q-1" }), chat.chat("a", { id: "q-1" })]);
  expect(both.map(({ text, continued }) => [text, continued])).toEqual([
    ["1", false],
    ["1", true],
  ]);
  expect(await memory.messages()).toEqual([user("a"), assistant("1")]);
});
