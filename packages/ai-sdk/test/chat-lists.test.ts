import { type Entry, entry } from "@turnkeep/core";
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import type { ChatPage } from "../src/index.ts";
import { Chat, line } from "./browser.ts";
import { approvalIn, booking, storedLines, world } from "./chat-server.ts";
import { callsTool, says } from "./models.ts";

test("chats are listed, paged and deleted, of who asks alone", async () => {
  const { server, failures } = world(says("One."), says("Two."), says("Three."));
  const { memories, tab, transport } = server();
  const chat = tab();
  for (const text of ["1?", "2?", "3?"]) await chat.sendMessage({ text });
  const ann = transport();
  expect(await ann.list()).toMatchObject({ chats: [{ id: "chat-1" }] });
  const bob = transport("bob");
  expect(await bob.list()).toEqual({ chats: [] });
  for (const refused of [
    bob.history("chat-1"),
    bob.stop("chat-1"),
    bob.deleteChat("chat-1"),
    bob.deleteMessage("chat-1", chat.messages[0]?.id as string),
    ann.history("chat-2"),
    ann.deleteChat("chat-2"),
  ]) {
    await expect(refused).rejects.toThrow("No such chat.");
  }
  expect(await storedLines(memories)).toHaveLength(6);
  await ann.deleteMessage("chat-1", chat.messages[2]?.id as string);
  await expect(ann.deleteMessage("chat-1", "none")).rejects.toThrow("No such message.");
  expect(await storedLines(memories)).toEqual([
    "user: 1?",
    "assistant: One.",
    "assistant: Two.",
    "user: 3?",
    "assistant: Three.",
  ]);
  await ann.deleteChat("chat-1");
  expect(await ann.list()).toEqual({ chats: [] });
  expect(failures).toEqual([]);
});

test("a chat and its messages have whatever ids an application gave them, and every route takes them", async () => {
  const id = "user-1/chat 1?#%2f";
  const { server, failures } = world(says("Two."), says("2."), says("One."));
  const { memories, transport } = server();
  const said = (id: string, role: "assistant" | "user", text: string): Entry<UIMessage> =>
    entry<UIMessage>({ id, role, parts: [{ type: "text", text }] }, { id });
  await memories
    .get(id, { owner: "ann" })
    .add(said("msg:17/q", "user", "1?"), said("a/17", "assistant", "1."));
  const ann = transport();
  const [listed] = (await ann.list()).chats;
  expect(listed?.id).toBe(id);
  const chat = new Chat({ id, transport: ann, messages: (await ann.history(id)).messages });
  await chat.resumeStream();
  await chat.sendMessage({ text: "2?" });
  await ann.deleteMessage(id, "a/17");
  await chat.regenerate();
  const { versions } = await ann.history(id);
  expect(Object.values(versions ?? {})).toHaveLength(1);
  await chat.sendMessage({ text: "One?", messageId: "msg:17/q" });
  expect(chat.error).toBeUndefined();
  expect(chat.messages.map(line)).toEqual(["user: One?", "assistant: One."]);
  expect((await ann.history(id)).messages.map(line)).toEqual(["user: One?", "assistant: One."]);
  const { messages: back } = await ann.restoreVersion(id, "msg:17/q");
  expect(back.map(line)[0]).toBe("user: 1?");
  expect(await ann.updateChat(id, { title: "Old" })).toEqual({ id, title: "Old" });
  expect((await ann.tree(id)).messages.length).toBeGreaterThan(2);
  await ann.stop(id);
  await ann.deleteChat(id);
  await expect(ann.chat(id)).rejects.toThrow("No such chat.");
  // What an application names so is its own to begin.
  await chat.sendMessage({ text: "Again" });
  expect(chat.error?.message).toBe("No such chat.");
  for (const way of ["", ".", ".."]) await expect(ann.deleteChat(way)).rejects.toThrow("is no id");
  expect(failures).toEqual([]);
});

test("no route tells a chat of somebody else from one that is not there", async () => {
  const { server, failures } = world(callsTool("book", { city: "Oslo" }));
  const { handler, tab } = server({ tools: booking().tools });
  const chat = tab();
  await chat.sendMessage({ text: "Book it." });
  const decision = { id: approvalIn(chat), approved: true };
  const message = {
    id: chat.lastMessage?.id,
    role: "assistant",
    parts: [{ type: "tool-book", state: "approval-responded", approval: decision }],
  };
  const replyTo = async (method: string, path: string, body?: object) => {
    const headers = { user: "bob", "content-type": "application/json" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await handler(new Request(`http://localhost/api/chat${path}`, init));
    return `${response.status} ${await response.text()}`;
  };
  for (const [method, path] of [
    ["GET", ""],
    ["GET", "?before=9"],
    ["GET", "/stream"],
    ["POST", "/stop"],
    ["DELETE", ""],
    ["DELETE", `/messages/${chat.lastMessage?.id}`],
    ["DELETE", "/messages/none"],
    ["POST", "/versions/none"],
  ] as const) {
    expect(await replyTo(method, `/chat-1${path}`), `${method} ${path}`).toBe(
      await replyTo(method, `/chat-2${path}`),
    );
  }
  expect(await replyTo("POST", "", { id: "chat-1", message })).toBe(
    await replyTo("POST", "", { id: "chat-2", message }),
  );
  expect(failures).toEqual([]);
});

test.each([
  ["POST", "/chat-1/stop", { "content-type": "text/plain" }, 415],
  ["GET", "?cursor=made-up", {}, 400],
])(
  "%s %s, as another site or a curious user asks it, is the asker's fault",
  async (method, path, more, status) => {
    const { server, failures } = world(says("One."));
    const { handler, tab } = server();
    await tab().sendMessage({ text: "1?" });
    const request = new Request(`http://localhost/api/chat${path}`, {
      method,
      headers: { user: "ann", ...more },
    });
    expect((await handler(request)).status).toBe(status);
    expect(failures).toEqual([]);
  },
);

test("a history is read page by page", async () => {
  const { server } = world(says("One."), says("Two."));
  const { tab, handler } = server();
  const chat = tab();
  for (const text of ["1?", "2?"]) await chat.sendMessage({ text });
  const get = async (query: string) => {
    const response = await handler(
      new Request(`http://localhost/api/chat/chat-1${query}`, { headers: { user: "ann" } }),
    );
    return (await response.json()) as ChatPage;
  };
  const newest = await get("?limit=3");
  expect(newest.messages.map(line)).toEqual(["assistant: One.", "user: 2?", "assistant: Two."]);
  const oldest = await get(`?limit=3&before=${newest.before}`);
  expect(oldest.messages.map(line)).toEqual(["user: 1?"]);
  expect(oldest.before).toBeUndefined();
  expect(await get("?limit=none")).toEqual({ error: "limit must be a positive integer." });
});

test("the application's prompts are its own: none is shown in front, and none can be deleted", async () => {
  const { server, prompts, failures } = world(says("One."), says("Two."));
  const { memories, tab, transport } = server();
  const memory = memories.get("chat-1", { owner: "ann" });
  const system = (id: string, text: string): UIMessage => ({
    id,
    role: "system",
    parts: [{ type: "text", text }],
  });
  await memory.instruct(system("s1", "Be brief."));
  await memory.instruct(entry(system("s2", "Be polite."), { id: "prompt" }));
  const chat = tab();
  await chat.sendMessage({ text: "1?" });
  await memory.add(entry(system("s3", "Ann is at home."), { id: "note" }));
  const page = await transport().history("chat-1");
  expect(page.messages.map(line)).toEqual(["user: 1?", "assistant: One.", "system: Ann is at home."]);
  expect((await transport().tree("chat-1")).messages.map(({ message }) => line(message))).toEqual(
    page.messages.map(line),
  );
  for (const id of ["s1", "s2", "prompt", "s3", "note"])
    await expect(transport().deleteMessage("chat-1", id)).rejects.toMatchObject({ statusCode: 404 });
  await chat.sendMessage({ text: "2?" });
  expect(prompts[1]?.[0]).toMatchObject({ role: "system", content: "Be polite." });
  expect(failures).toEqual([]);
});

test("a question that more messages than the window has room for must go with is refused in no wrong unit", async () => {
  const { server, failures } = world();
  const { memories, tab } = server({ window: { maxMessages: 1, overflow: "throw" } });
  await memories
    .get("chat-1", { owner: "ann" })
    .instruct({ id: "s", role: "system", parts: [{ type: "text", text: "Be brief." }] });
  const chat = tab();
  await chat.sendMessage({ text: "1?" });
  expect(chat.error).toMatchObject({
    statusCode: 413,
    message: "The message is too long by 1: 1 is the limit.",
  });
  expect(failures).toEqual([]);
});
