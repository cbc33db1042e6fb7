import { entry } from "@turnkeep/core";
import { until } from "@turnkeep/store-tests/gate";
import type { UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import { line } from "./browser.ts";
import { slowly, statusOf, storedLines, world } from "./chat-server.ts";
import { says } from "./models.ts";

test("another answer, and an edited question", async () => {
  const { server, failures } = world(says("One."), says("Two."), says("Three."), says("Four."));
  const { memories, tab } = server();
  const chat = tab();
  await chat.sendMessage({ text: "Count." });
  await chat.regenerate();
  expect(chat.messages.map(line)).toEqual(["user: Count.", "assistant: Two."]);
  expect(await storedLines(memories)).toEqual(["user: Count.", "assistant: Two."]);
  await chat.sendMessage({ text: "Go on." });
  await chat.sendMessage({ text: "Count on.", messageId: chat.messages[0]?.id as string });
  // The tab has seen all that it takes back.
  expect(chat.messages.map(line)).toEqual(["user: Count on.", "assistant: Four."]);
  expect(await storedLines(memories)).toEqual(["user: Count on.", "assistant: Four."]);
  expect(failures).toEqual([]);
});

test("an answer that is over is made anew, and whatever is answered meanwhile is not stopped", async () => {
  const { server, failures } = world(says("One."), says("Two."));
  const { memories, tab } = server();
  const chat = tab();
  await chat.sendMessage({ text: "Count." });
  memories.get("chat-1", { owner: "ann" }).requestStop = () => {
    throw new Error("It stops whoever answers.");
  };
  await chat.regenerate();
  expect(await storedLines(memories)).toEqual(["user: Count.", "assistant: Two."]);
  expect(failures).toEqual([]);
});

test("the versions of a question and of an answer, and the one that is wanted after all", async () => {
  const { server, failures } = world(says("One."), says("Two."), says("Three."), says("Four."));
  const { memories, tab, transport } = server();
  const chat = tab();
  await chat.sendMessage({ text: "Count." });
  const [questionId, first] = chat.messages.map(({ id }) => id) as [string, string];
  expect(await transport().history("chat-1")).not.toHaveProperty("versions");
  await chat.regenerate();
  const answerId = chat.messages[1]?.id as string;
  const ofAnswer = { [answerId]: { ids: [first, answerId], shown: 1 } };
  expect((await transport().history("chat-1")).versions).toEqual(ofAnswer);
  await chat.sendMessage({ text: "Go on." });
  await chat.sendMessage({ text: "Count on.", messageId: questionId });
  const { versions } = await transport().history("chat-1");
  const ofQuestion = { ids: [questionId, expect.any(String)], shown: 1 };
  expect(versions).toEqual({ [questionId]: ofQuestion });
  const back = await transport().restoreVersion("chat-1", questionId);
  const lines = ["user: Count.", "assistant: Two.", "user: Go on.", "assistant: Three."];
  expect(back.messages.map(line)).toEqual(lines);
  expect(back.versions).toEqual({ [questionId]: { ...ofQuestion, shown: 0 }, ...ofAnswer });
  expect(await storedLines(memories)).toEqual(lines);
  const { messages } = await transport().restoreVersion("chat-1", first);
  expect(messages.map(line)).toEqual(["user: Count.", "assistant: One."]);
  await expect(transport().restoreVersion("chat-1", "none")).rejects.toThrow("No such version.");
  await expect(transport().restoreVersion("chat-2", questionId)).rejects.toThrow("No such chat.");
  expect(failures).toEqual([]);
});

test("a version that is restored ends the answer that is made in its place", async () => {
  const { reply, begun, goOn } = slowly("Two, ", "or more.");
  const { server, failures } = world(says("One."), reply);
  const { memories, tab, transport } = server();
  const chat = tab();
  await chat.sendMessage({ text: "Count." });
  const asked = chat.sendMessage({ text: "Count on.", messageId: chat.messages[0]?.id as string });
  await begun;
  const { versions = {} } = await transport().history("chat-1");
  const [
    {
      ids: [first = ""],
    } = { ids: [] },
  ] = Object.values(versions);
  const restored = transport().restoreVersion("chat-1", first);
  await asked;
  goOn();
  expect((await restored).messages.map(line)).toEqual(["user: Count.", "assistant: One."]);
  expect(await storedLines(memories)).toEqual(["user: Count.", "assistant: One."]);
  expect(failures).toEqual([]);
});

test("an answer goes on when somebody restores what is not there, or is shown already", async () => {
  const { reply, begun, goOn } = slowly("Two, ", "or more.");
  const { server, failures } = world(says("One."), reply);
  const { memories, tab, transport } = server();
  const chat = tab();
  await chat.sendMessage({ text: "Count." });
  const questionId = chat.messages[0]?.id as string;
  const asked = chat.sendMessage({ text: "Count on.", messageId: questionId });
  await begun;
  await expect(transport().restoreVersion("chat-1", "none")).rejects.toThrow("No such version.");
  const { versions } = await transport().history("chat-1");
  const { ids = [], shown = 0 } = versions?.[questionId] ?? {};
  const page = await transport().restoreVersion("chat-1", ids[shown] as string);
  expect(page.messages[0] && line(page.messages[0])).toBe("user: Count on.");
  goOn();
  await asked;
  expect(await storedLines(memories)).toEqual(["user: Count on.", "assistant: Two, or more."]);
  expect(await statusOf(memories)).toBe("done");
  expect(failures).toEqual([]);
});

test("an answer goes on when somebody asks behind a prompt whose place another took, or restores that", async () => {
  const { reply, begun, goOn } = slowly("One, ", "two.");
  const { server, failures } = world(reply, says("Three."));
  const { memories, tab, transport } = server();
  const memory = memories.get("chat-1", { owner: "ann" });
  const turns = vi.spyOn(memory, "turn");
  const instruct = (text: string) =>
    memory.instruct({ id: text, role: "system", parts: [{ type: "text", text }] });
  const replaced = await instruct("Be brief.");
  await instruct("Be polite.");
  const asked = tab().sendMessage({ text: "Count." });
  await begun;
  await expect(transport().restoreVersion("chat-1", replaced)).rejects.toThrow("No such version.");
  const { messages } = await transport().history("chat-1");
  const other = tab(messages);
  const body = { parentId: replaced, seen: messages.at(-1)?.id };
  const next = other.sendMessage({ text: "And?" }, { body });
  await until(() => turns.mock.calls.length === 2);
  goOn();
  await Promise.all([asked, next]);
  expect((await storedLines(memories)).slice(1)).toEqual([
    "user: Count.",
    "assistant: One, two.",
    "user: And?",
    "assistant: Three.",
  ]);
  expect([other.error, failures]).toEqual([undefined, []]);
});

test("the versions of what took the place of all, where something older had left", async () => {
  const { server } = world();
  const pinned = ({ id }: UIMessage): boolean => id === "q1";
  const { memories, transport } = server({ window: { maxMessages: 3, pinned } });
  const memory = memories.get("chat-1", { owner: "ann" });
  const says = (id: string, role: "user" | "assistant") =>
    entry<UIMessage>({ id, role, parts: [{ type: "text", text: id }] }, { id });
  await memory.add(says("q1", "user"), says("a1", "assistant"), says("q2", "user"), says("a2", "assistant"));
  await memory.set([says("new", "user")]);
  const page = await transport().history("chat-1");
  expect(page.messages.map(({ id }) => id)).toEqual(["a1", "new"]);
  expect(page.versions?.new).toEqual({ ids: ["q1", "new"], shown: 1 });
});

test("a prompt that comes later is not in the way of an edit, and not taken back by another answer", async () => {
  const { server, failures } = world(says("One."), says("Two."), says("Three."), says("Four."));
  const { memories, tab, transport } = server();
  const memory = memories.get("chat-1", { owner: "ann" });
  const instruct = (text: string) =>
    memory.instruct({ id: text, role: "system", parts: [{ type: "text", text }] });
  const chat = tab();
  await chat.sendMessage({ text: "1?" });
  await chat.sendMessage({ text: "2?" });
  await instruct("Be brief.");
  await chat.sendMessage({ text: "3?", messageId: chat.messages[0]?.id as string });
  expect((await memory.messages()).map(line)).toEqual(["system: Be brief.", "user: 3?", "assistant: Three."]);
  await instruct("Be polite.");
  await transport().deleteMessage("chat-1", chat.lastMessage?.id as string);
  await chat.regenerate();
  expect((await memory.messages()).map(line)).toEqual(["system: Be polite.", "user: 3?", "assistant: Four."]);
  expect([chat.error, failures]).toEqual([undefined, []]);
});
