import { inMemoryStore } from "@turnkeep/core";
import { gate, until } from "@turnkeep/store-tests/gate";
import { expect, test } from "vitest";
import { chatThreads } from "../src/index.ts";
import { slowly } from "./models.ts";
import { nextTurns } from "./page.ts";
import { server } from "./world.ts";

test("threads are listed newest first, with the titles that the server gives, and renamed", async () => {
  let titles = 0;
  const store = inMemoryStore();
  const { page, memories, failures } = server(["1", "2", "3"], {
    store,
    title: async () => `Title ${++titles}`,
  });
  const tab = await page();
  await tab.ask("A");
  await until(() => tab.list()[0] === "Title 1");
  const first = tab.threadId();
  await tab.runtime.threads.switchToNewThread();
  await tab.ask("B");
  await until(() => tab.list()[0] === "Title 2");
  await memories.get(first).update((before) => ({ ...(before as object), tag: "kept" }));
  await tab.runtime.threads.getItemById(first).rename("Mine");
  const other = await page();
  expect(other.list()).toEqual(["Mine", "Title 2"]);
  expect(await memories.get(first).data()).toEqual({ title: "Mine", tag: "kept" });
  expect(failures).toEqual([]);
});

test("a thread is archived, shown again, and deleted", async () => {
  const { page, memories, failures } = server(["1", "2"], {
    title: ([question]) => JSON.stringify(question?.parts),
  });
  const tab = await page();
  await tab.ask("A");
  const id = tab.threadId();
  await tab.runtime.threads.mainItem.archive();
  const other = await page();
  const listed = other.runtime.threads.getState();
  expect([listed.threadIds, listed.archivedThreadIds]).toEqual([[], [id]]);
  await other.runtime.threads.getItemById(id).unarchive();
  expect((await page()).runtime.threads.getState().threadIds).toEqual([id]);
  await other.runtime.threads.getItemById(id).delete();
  expect((await page()).runtime.threads.getState().threadIds).toEqual([]);
  expect((await memories.get(id).history()).messages).toEqual([]);
  expect(failures).toEqual([]);
});

test("a list longer than a page is asked for page by page", async () => {
  const { memories, options } = server([]);
  for (let thread = 0; thread < 60; thread++) {
    const id = `thread-${thread}`;
    await memories
      .get(id, { owner: "ann" })
      .add({ id: `q-${thread}`, role: "user", parts: [{ type: "text", text: "A" }] });
  }
  const { adapter } = chatThreads(options("ann"));
  const first = await adapter.list();
  const rest = await adapter.list({ after: first.nextCursor });
  expect(first.threads).toHaveLength(50);
  expect(rest).toMatchObject({ threads: { length: 10 } });
  expect(rest).not.toHaveProperty("nextCursor");
  expect(new Set([...first.threads, ...rest.threads].map(({ remoteId }) => remoteId)).size).toBe(60);
});

test("somebody else sees neither thread nor message, and changes nothing", async () => {
  const { page, options, memories, requests, failures } = server(["Secret."]);
  const tab = await page();
  await tab.ask("A");
  const id = tab.threadId();
  expect((await page("bob")).list()).toEqual([]);
  requests.length = 0;
  const { adapter, transport } = chatThreads(options("bob"));
  const gone = { statusCode: 404, message: "No such chat." };
  for (const attempt of [
    adapter.fetch(id),
    adapter.rename(id, "Mine"),
    adapter.archive(id),
    transport.sendMessages({
      trigger: "submit-message",
      chatId: id,
      messageId: undefined,
      messages: [{ id: "q", role: "user", parts: [{ type: "text", text: "What was said?" }] }],
      abortSignal: undefined,
    }),
  ])
    await expect(attempt).rejects.toMatchObject(gone);
  // As one that is not there.
  await adapter.delete(id);
  const api = "http://localhost/api/chat";
  const headers = { user: "bob" };
  for (const path of [`/${id}/tree`, `/${id}/about`]) {
    const response = await options("bob").fetch(api + path, { headers });
    expect([response.status, await response.text()]).toEqual([404, '{"error":"No such chat."}']);
  }
  expect(new Set(requests.map((request) => request.split(" ")[1]))).toEqual(new Set(["404"]));
  expect(await memories.get(id).data()).toBeUndefined();
  expect((await memories.get(id).messages()).length).toBe(2);
  expect(failures).toEqual([]);
});

const tiny = { maxTokens: 1, counter: { name: "two", count: () => 2 } };

test.each([
  { first: "answered", window: undefined, expected: ["About A"] },
  { first: "refused", window: tiny, expected: [] },
])("a title is waited for until the first question is $first", async ({ window, expected }) => {
  const { options, requests } = server(["1"], { window, title: () => "About A" });
  const { adapter, transport } = chatThreads(options("ann"));
  const title = await adapter.generateTitle("thread-1", []);
  await nextTurns();
  expect(requests).toEqual([]);
  const asked = transport.sendMessages({
    trigger: "submit-message",
    chatId: "thread-1",
    messageId: undefined,
    messages: [{ id: "q", role: "user", parts: [{ type: "text", text: "A" }] }],
    abortSignal: undefined,
  });
  const chunks = await asked.catch(() => []);
  for await (const _ of chunks);
  const texts = [];
  for await (const chunk of title) if (chunk.type === "text-delta") texts.push(chunk.textDelta);
  expect(texts).toEqual(expected);
});

test("a title is not waited for longer than an answer that is stopped", async () => {
  const { reply, begun } = slowly("One, ", "two.");
  const { options } = server([reply], { title: () => "About A" });
  const { adapter, transport } = chatThreads(options("ann"));
  const title = await adapter.generateTitle("thread-1", []);
  const abort = new AbortController();
  const chunks = await transport.sendMessages({
    trigger: "submit-message",
    chatId: "thread-1",
    messageId: undefined,
    messages: [{ id: "q", role: "user", parts: [{ type: "text", text: "A" }] }],
    abortSignal: abort.signal,
  });
  await begun;
  abort.abort();
  await chunks.cancel();
  const texts = [];
  for await (const chunk of title) if (chunk.type === "text-delta") texts.push(chunk.textDelta);
  expect(texts).toEqual(["About A"]);
});

test("a title is not waited for in a thread that was loaded", async () => {
  const { page, memories } = server(["1"]);
  const tab = await page();
  await tab.ask("A");
  const id = tab.threadId();
  const other = await page();
  await other.open(id);
  await memories.get(id).update({ title: "Given since" });
  await other.runtime.threads.mainItem.generateTitle();
  await until(() => other.list()[0] === "Given since");
});

test("a question waits for the switch of a branch before it", async () => {
  const { options } = server(["1", "2"]);
  const { opened, open } = gate();
  const posts: string[] = [];
  const ann = options("ann");
  const { transport, onBranchChange } = chatThreads({
    ...ann,
    fetch: async (url, init) => {
      posts.push(String(url).replace(/.*\/api\/chat/, ""));
      if (String(url).includes("/versions/")) await opened;
      return ann.fetch(url, init);
    },
  });
  const ask = async (id: string): Promise<void> => {
    const chunks = await transport.sendMessages({
      trigger: "submit-message",
      chatId: "thread-1",
      messageId: undefined,
      messages: [{ id, role: "user", parts: [{ type: "text", text: id }] }],
      abortSignal: undefined,
    });
    for await (const _ of chunks);
  };
  await ask("q1");
  onBranchChange({ headId: "q1" });
  const asked = ask("q1");
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(posts).toEqual(["", "/thread-1/versions/q1"]);
  open();
  await asked;
  expect(posts).toEqual(["", "/thread-1/versions/q1", ""]);
});

test("a thread whose first question is refused is not on the server, and can be deleted", async () => {
  const { page, failures } = server([], { window: tiny });
  const tab = await page();
  await tab.ask("A");
  expect(tab.runtime.thread.getState().messages.at(-1)?.status).toMatchObject({ type: "incomplete" });
  expect((await page()).list()).toEqual([]);
  await tab.runtime.threads.mainItem.delete();
  expect(failures).toEqual([]);
});
