import { createChatMemories, entry, inMemoryStore, type WindowOptions } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { gate } from "@turnkeep/store-tests/gate";
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { chatTransport } from "../src/client.ts";
import { chatHandler } from "../src/index.ts";
import { line } from "./browser.ts";
import { modelOf, says } from "./models.ts";

const question = (id: string, text = id): UIMessage => ({
  id,
  role: "user",
  parts: [{ type: "text", text }],
});

interface Posting {
  readonly parentId: string | null;
  readonly seen?: string;
}

/** A chat behind a handler, for a page that shows branches. */
function chat(answers: readonly string[] = [], window?: WindowOptions<UIMessage>) {
  const { model, prompts } = modelOf(...answers.map(says));
  const format = uiMessageFormat<UIMessage>();
  const memories = createChatMemories({ store: inMemoryStore(), format, window });
  const memory = memories.get("chat-1", { owner: "ann" });
  const failures: unknown[] = [];
  const owner = ({ headers }: Request): string | undefined => headers.get("user") ?? undefined;
  const handler = chatHandler({ memories, owner, model, onError: (error) => failures.push(error) });
  const send = (method: string, path: string, body?: object, user = "ann"): Promise<Response> =>
    handler(
      new Request(`http://localhost/api/chat${path}`, {
        method,
        headers: { user, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
  return {
    memory,
    memories,
    prompts,
    failures,
    send,
    transport: chatTransport({
      api: "http://localhost/api/chat",
      headers: { user: "ann" },
      fetch: (url, init) => handler(new Request(url as string, init)),
    }),
    /** Asks; answers the status, and of an answer its id. */
    async ask(message: UIMessage, posting: Posting): Promise<{ status: number; answer: string }> {
      const response = await send("POST", "", { id: "chat-1", message, ...posting });
      const text = await response.text();
      return { status: response.status, answer: /"messageId":"([^"]+)"/.exec(text)?.[1] ?? text };
    },
    lines: async () => (await memory.messages()).map(line),
  };
}

test("a new question in the place of another takes that back, under ids of their own", async () => {
  const { ask, lines, transport } = chat(["1", "2", "3", "4"]);
  const { answer: a1 } = await ask(question("q1"), { parentId: null });
  const { answer: a2 } = await ask(question("q2"), { parentId: a1, seen: a1 });
  const { answer: a3 } = await ask(question("q3"), { parentId: a1, seen: a2 });
  expect(await lines()).toEqual(["user: q1", "assistant: 1", "user: q3", "assistant: 3"]);
  const { answer: a4 } = await ask(question("q4"), { parentId: null, seen: a3 });
  expect(await lines()).toEqual(["user: q4", "assistant: 4"]);
  const { messages, headId } = await transport.tree("chat-1");
  expect(messages.map(({ parentId, message }) => [parentId, message.id])).toEqual([
    [null, "q1"],
    ["q1", a1],
    [a1, "q2"],
    ["q2", a2],
    [a1, "q3"],
    ["q3", a3],
    [null, "q4"],
    ["q4", a4],
  ]);
  expect(headId).toBe(a4);
});

test("a question behind a branch that was taken back makes that the conversation", async () => {
  const { ask, lines, prompts, failures } = chat(["1", "2", "3", "4", "5"]);
  const { answer: a1 } = await ask(question("q1"), { parentId: null });
  const { answer: a2 } = await ask(question("q2"), { parentId: null, seen: a1 });
  const { answer: a3 } = await ask(question("q3"), { parentId: a1, seen: a2 });
  expect(await lines()).toEqual(["user: q1", "assistant: 1", "user: q3", "assistant: 3"]);
  // Another answer to what was taken back.
  const { answer: a4 } = await ask(question("q2"), { parentId: null, seen: a3 });
  expect(await lines()).toEqual(["user: q2", "assistant: 4"]);
  expect(prompts.at(-1)).toHaveLength(1);
  // An edit in the middle of the other branch.
  await ask(question("q5"), { parentId: a1, seen: a4 });
  expect(await lines()).toEqual(["user: q1", "assistant: 1", "user: q5", "assistant: 5"]);
  expect(failures).toEqual([]);
});

test("a question in the middle of another branch, which is longer than the window, takes back what follows there", async () => {
  const { ask, lines, memory, prompts } = chat(["1", "2", "3", "4", "5"], { maxMessages: 2, unit: "turn" });
  const { answer: a1 } = await ask(question("q1"), { parentId: null });
  const { answer: a2 } = await ask(question("q2"), { parentId: a1, seen: a1 });
  const { answer: a3 } = await ask(question("q3"), { parentId: a2, seen: a2 });
  const { answer: a4 } = await ask(question("q4"), { parentId: null, seen: a3 });
  const { messages: before } = await memory.history({ states: ["live", "evicted"] });
  expect(before.map(({ message }) => line(message))).toEqual(["user: q4", "assistant: 4"]);
  await ask(question("q5"), { parentId: a1, seen: a4 });
  const { messages } = await memory.history({ states: ["live", "evicted"] });
  const said = ["user: q1", "assistant: 1", "user: q5", "assistant: 5"];
  expect(messages.map(({ message }) => line(message))).toEqual(said);
  expect(await lines()).toEqual(said.slice(2));
  expect(prompts.at(-1)).toHaveLength(1);
});

test("what a tab has not seen is neither taken back nor put back", async () => {
  const { ask, lines, memory } = chat(["1", "2", "3", "4"]);
  const { answer: a1 } = await ask(question("q1"), { parentId: null });
  const { answer: a2 } = await ask(question("q2"), { parentId: null, seen: a1 });
  const gone = { status: 409, answer: expect.stringContaining("gone on") };
  // It knows of the first branch alone.
  expect(await ask(question("q3"), { parentId: a1, seen: a1 })).toEqual(gone);
  expect(await ask(question("q1"), { parentId: null, seen: a1 })).toEqual(gone);
  expect(await ask(question("q3"), { parentId: null, seen: a1 })).toEqual(gone);
  expect(await lines()).toEqual(["user: q2", "assistant: 2"]);
  // Others have gone on behind what it has seen: its question comes behind that.
  await ask(question("q4"), { parentId: a2, seen: a2 });
  await ask(question("q5"), { parentId: a2, seen: a2 });
  expect(await lines()).toHaveLength(6);
  expect((await memory.history({ states: ["superseded"] })).messages).toHaveLength(2);
});

test("a question behind one that was refused, or that was not answered, goes on with what is there", async () => {
  const { ask, lines } = chat(["1", "2", "3"]);
  const { answer: a1 } = await ask(question("q1"), { parentId: null });
  await ask(question("q3"), { parentId: "refused", seen: a1 });
  await ask(question("q4"), { parentId: "q3", seen: a1 });
  expect(await lines()).toEqual([
    "user: q1",
    "assistant: 1",
    "user: q3",
    "assistant: 2",
    "user: q4",
    "assistant: 3",
  ]);
});

test("a prompt in front is not taken back, and not in the tree", async () => {
  const { ask, lines, memory, transport } = chat(["1", "2"]);
  await memory.add({ id: "s", role: "system", parts: [{ type: "text", text: "Be brief." }] });
  const { answer: a1 } = await ask(question("q1"), { parentId: null });
  await ask(question("q2"), { parentId: null, seen: a1 });
  expect(await lines()).toEqual(["system: Be brief.", "user: q2", "assistant: 2"]);
  const { messages } = await transport.tree("chat-1");
  expect(messages.map(({ parentId, message }) => [parentId, line(message)])).toEqual([
    [null, "user: q1"],
    ["q1", "assistant: 1"],
    [null, "user: q2"],
    ["q2", "assistant: 2"],
  ]);
});

test("versions that have one id in common have their own in the tree, by which they are asked again", async () => {
  const { ask, lines, memory, transport } = chat(["1", "2", "3", "4", "5"]);
  const { answer: a1 } = await ask(question("q1", "One?"), { parentId: null });
  // `useChat` edits under the same id.
  const { answer: a2 } = await ask(question("q1", "Two?"), { parentId: null, seen: a1 });
  const { messages } = await transport.tree("chat-1");
  const ids = messages.map(({ message }) => message.id);
  expect(new Set(ids).size).toBe(4);
  expect(messages.map(({ message }) => line(message))).toEqual([
    "user: One?",
    "assistant: 1",
    "user: Two?",
    "assistant: 2",
  ]);
  expect(ids[2]).not.toBe("q1");
  const { answer: a3 } = await ask(
    { ...question("q1", "Two?"), id: ids[2] as string },
    { parentId: null, seen: a2 },
  );
  expect(await lines()).toEqual(["user: Two?", "assistant: 3"]);
  await ask(question("q4"), { parentId: a3, seen: a3 });
  expect(await lines()).toEqual(["user: Two?", "assistant: 3", "user: q4", "assistant: 4"]);
  // The question was not asked twice: another answer is all that came.
  expect((await transport.tree("chat-1")).messages).toHaveLength(7);
  // What the application moved here is known by the id that the tree has for it.
  await memory.add(entry(question("moved"), { id: "m-1" }));
  expect(await ask(question("q5"), { parentId: null, seen: "m-1" })).toMatchObject({ status: 200 });
});

test("what is left of a tree whose messages were removed hangs together", async () => {
  const { memory, transport, ask } = chat(["1", "2", "3"]);
  const { answer: a1 } = await ask(question("q1"), { parentId: null });
  const { answer: a2 } = await ask(question("q1"), { parentId: null, seen: a1 });
  const { answer: a3 } = await ask(question("q3"), { parentId: a2, seen: a2 });
  await memory.remove(a2);
  const shown = async () =>
    (await transport.tree("chat-1")).messages.map(({ parentId, message }) => [parentId, message.id]);
  expect(await shown()).toEqual([
    [null, "q1"],
    ["q1", a1],
    ["q1", "q3"],
    ["q3", a3],
  ]);
  // What was taken back can be deleted too.
  await transport.deleteMessage("chat-1", a1);
  await transport.deleteMessage("chat-1", "q1");
  expect(await shown()).toEqual([
    [null, "q3"],
    ["q3", a3],
  ]);
  await expect(transport.deleteMessage("chat-1", a1)).rejects.toMatchObject({ statusCode: 404 });
});

test("a conversation whose beginning was pruned goes on behind no branch that was taken back", async () => {
  const { memories, transport, ask } = chat(["1", "2", "3"], { maxMessages: 2, unit: "turn" });
  const { answer: a1 } = await ask(question("q1"), { parentId: null });
  const { answer: a2 } = await ask(question("q1"), { parentId: null, seen: a1 });
  const { answer: a3 } = await ask(question("q3"), { parentId: a2, seen: a2 });
  await memories.prune({ olderThanMs: 0, states: ["evicted"] });
  const { messages, headId } = await transport.tree("chat-1");
  expect(headId).toBe(a3);
  expect(messages.map(({ parentId, message }) => [parentId, message.id])).toEqual([
    [null, a1],
    [null, "q3"],
    ["q3", a3],
  ]);
});

test("a user names a chat and puts it away; what the application says of it stays", async () => {
  const { memory, send, transport, failures } = chat();
  await memory.add(question("q1"));
  await memory.update({ tag: "kept" });
  expect(await transport.chat("chat-1")).toEqual({ id: "chat-1" });
  expect(await transport.updateChat("chat-1", { title: "Mine" })).toEqual({ id: "chat-1", title: "Mine" });
  const about = { id: "chat-1", title: "Mine", archived: true };
  expect(await transport.updateChat("chat-1", { archived: true })).toEqual(about);
  expect(await transport.list()).toEqual({ chats: [{ ...about, updatedAt: expect.any(Number) }] });
  expect(await memory.data()).toEqual({ tag: "kept", title: "Mine", archived: true });
  const bad = [{}, { title: " " }, { title: 7 }, { title: "x".repeat(201) }, { archived: "yes" }];
  for (const change of bad) expect((await send("POST", "/chat-1/about", change)).status).toBe(400);
  await memory.update(["the application's own"]);
  expect((await send("POST", "/chat-1/about", { title: "Mine" })).status).toBe(409);
  expect(await memory.data()).toEqual(["the application's own"]);
  expect(failures).toEqual([]);
});

test("a tree, a name and a title of nobody's, or of somebody else's chat, are not there", async () => {
  const { memory, send, failures } = chat();
  await memory.add(entry(question("q1"), { id: "q1" }));
  const requests = [
    ["GET", "/tree"],
    ["GET", "/about"],
    ["POST", "/about"],
  ] as const;
  for (const [method, path] of requests) {
    const body = method === "POST" ? { title: "Mine" } : undefined;
    for (const [id, user] of [
      ["chat-1", "bob"],
      ["chat-2", "ann"],
    ]) {
      const response = await send(method, `/${id}${path}`, body, user);
      expect([response.status, await response.json()]).toEqual([404, { error: "No such chat." }]);
    }
  }
  expect(await memory.data()).toBeUndefined();
  expect(failures).toEqual([]);
});

test("an answer that ended between the page and its resumption is shown whole", async () => {
  const { memory, transport } = chat();
  const streaming: UIMessage = {
    id: "a1",
    role: "assistant",
    metadata: { status: "streaming" },
    parts: [{ type: "text", text: "One, ", state: "streaming" }],
  };
  const [begun, goesOn] = [gate(), gate()];
  const turn = memory.turn(async () => {
    await memory.add(question("q1"), entry(streaming, { id: "a1" }));
    begun.open();
    await goesOn.opened;
    await memory.put("a1", {
      ...streaming,
      metadata: { status: "done" },
      parts: [{ type: "text", text: "One, two.", state: "done" }],
    });
  });
  await begun.opened;
  for (const load of [() => transport.tree("chat-1"), () => transport.history("chat-1")]) await load();
  goesOn.open();
  await turn;
  const chunks = [];
  const stream = await transport.reconnectToStream({ chatId: "chat-1" });
  for await (const chunk of stream ?? []) chunks.push(chunk);
  expect(chunks).toMatchObject([
    { type: "start", messageId: "a1", messageMetadata: { status: "done" } },
    { type: "text-start" },
    { type: "text-delta", delta: "One, two." },
    { type: "text-end" },
    { type: "finish" },
  ]);
  // It is asked for once.
  expect(await transport.reconnectToStream({ chatId: "chat-1" })).toBeNull();
});

test("an answer that was taken back, or whose process died, is not shown as in the making", async () => {
  const { memory, transport, send } = chat();
  const streaming = (id: string): UIMessage => ({
    id,
    role: "assistant",
    metadata: { status: "streaming" },
    parts: [{ type: "text", text: "One, ", state: "streaming" }],
  });
  await memory.add(question("q1"), entry(streaming("a1"), { id: "a1" }));
  await memory.rewind("a1");
  await memory.add(entry(streaming("a2"), { id: "a2" }));
  const { messages } = await transport.tree("chat-1");
  expect(messages.slice(1).map(({ message }) => message.metadata)).toEqual([
    { status: "interrupted" },
    { status: "interrupted" },
  ]);
  const response = await send("GET", "/chat-1/stream?shown=a2");
  expect(await response.text()).toMatch(/"messageMetadata":\{"status":"interrupted"\}.*"type":"abort"/s);
});

test("a question under the id of an answer that was taken back is refused, and no branch is switched", async () => {
  const { ask, lines } = chat(["1", "2"]);
  const { answer: a1 } = await ask(question("q1"), { parentId: null });
  const { answer: a2 } = await ask(question("q1"), { parentId: null, seen: a1 });
  const before = await lines();
  expect((await ask(question(a1), { parentId: "q1", seen: a2 })).status).toBe(409);
  expect(await lines()).toEqual(before);
});

test("what is no answer cannot be resumed, whatever it is named", async () => {
  const { memory, send, failures } = chat();
  await memory.add(entry(question("q1"), { id: "q1" }));
  for (const shown of ["", "q1", "__proto__", "%00", "%ED%A0%80", "x".repeat(10_000)]) {
    expect((await send("GET", `/chat-1/stream?shown=${shown}`)).status).toBe(204);
  }
  expect(failures).toEqual([]);
});

test("a chat whose messages were all deleted or taken back is an empty one, and can be deleted", async () => {
  for (const empty of ["deleted", "taken back", "deleted, unnamed"]) {
    const { ask, memory, transport, failures } = chat(["1", "2"]);
    const { answer } = await ask(question("q1"), { parentId: null });
    if (empty === "deleted") await memory.update({ title: "Mine" });
    if (empty === "taken back") await memory.rewind("q1");
    else for (const id of [answer, "q1"]) await transport.deleteMessage("chat-1", id);
    const { chats } = await transport.list();
    expect(chats, empty).toHaveLength(1);
    const { messages, headId } = await transport.tree("chat-1");
    expect([messages.length, headId]).toEqual([empty === "taken back" ? 2 : 0, undefined]);
    expect((await transport.history("chat-1")).messages).toEqual([]);
    expect(await transport.chat("chat-1")).toMatchObject({ id: "chat-1" });
    await transport.deleteChat("chat-1");
    expect(await transport.list()).toEqual({ chats: [] });
    await expect(transport.tree("chat-1")).rejects.toMatchObject({ statusCode: 404 });
    await expect(transport.chat("chat-1")).rejects.toMatchObject({ statusCode: 404 });
    expect(failures).toEqual([]);
  }
});

test("a question on another branch ends the answer that is being made", async () => {
  const { ask, memory, lines } = chat(["1", "2"]);
  const { answer: a1 } = await ask(question("q1"), { parentId: null });
  const streaming: UIMessage = { id: "a2", role: "assistant", metadata: { status: "streaming" }, parts: [] };
  let isStopped = false;
  const begun = gate();
  const turn = memory.turn(async ({ signal }) => {
    await memory.transaction((edit) => {
      edit.rewind("q1");
      edit.add(entry(question("q2"), { id: "q2" }), entry(streaming, { id: "a2" }));
    });
    begun.open();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    isStopped = true;
  });
  await begun.opened;
  await ask(question("q3"), { parentId: a1, seen: "a2" });
  await turn;
  expect(isStopped).toBe(true);
  expect(await lines()).toEqual(["user: q1", "assistant: 1", "user: q3", "assistant: 2"]);
});
