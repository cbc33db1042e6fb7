import { gate, until } from "@turnkeep/store-tests/gate";
import { expect, test, vi } from "vitest";
import { chatTransport } from "../src/client.ts";
import type { ChatMessage } from "../src/index.ts";
import { Chat, line } from "./browser.ts";
import { slowly, statusOf, stored, storedLines, usage, world } from "./chat-server.ts";
import { says } from "./models.ts";

test("an answer is kept while it streams, and shown to a page that is loaded meanwhile", async () => {
  const { reply, begun, goOn } = slowly("One, ", "two.");
  const { server } = world(reply, says("Three."));
  const { memories, tab, transport } = server();
  const chat = tab();
  const asked = chat.sendMessage({ text: "Count." });
  await begun;
  await until(async () => (await storedLines(memories))[1] === "assistant: One, ");
  const { messages } = await transport().history("chat-1");
  expect(messages[1]?.metadata).toEqual({ status: "streaming" });
  const loaded = tab(messages);
  const resumed = loaded.resumeStream();
  await until(() => loaded.status === "streaming" && loaded.lastMessage?.parts.length !== 0);
  goOn();
  await Promise.all([asked, resumed]);
  for (const each of [chat, loaded]) {
    expect(each.messages.map(line)).toEqual(["user: Count.", "assistant: One, two."]);
    expect(each.lastMessage?.metadata).toEqual({ status: "done", usage });
    expect(each.lastMessage?.id).toBe((await stored(memories))[1]?.id);
  }
  // When it is over, there is nothing to resume.
  await loaded.resumeStream();
  expect(loaded.status).toBe("ready");
  await loaded.sendMessage({ text: "And?" });
  expect(await storedLines(memories)).toEqual([
    "user: Count.",
    "assistant: One, two.",
    "user: And?",
    "assistant: Three.",
  ]);
});

test("a browser that has seen the end of an answer finds it stored", async () => {
  const { server } = world(says("One."));
  const { memories, tab } = server();
  const memory = memories.get("chat-1", { owner: "ann" });
  const { opened, open } = gate();
  const put = memory.put.bind(memory);
  memory.put = async (...change) => {
    await opened;
    return put(...change);
  };
  let isOver = false;
  const chat = tab();
  const asked = chat.sendMessage({ text: "Count." }).then(() => {
    isOver = true;
  });
  await until(() => chat.messages.map(line).at(-1) === "assistant: One.");
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  open();
  await asked;
  expect(await statusOf(memories)).toBe("done");
});

test("an answer whose connection breaks is shown whole when it is resumed, once", async () => {
  const { reply, begun, goOn } = slowly("One, ", "two.");
  const { server, failures } = world(reply);
  const { memories, handler } = server();
  const { opened: broken, open: breakOff } = gate();
  const asked: string[] = [];
  const transport = chatTransport({
    api: "http://localhost/api/chat",
    headers: { user: "ann" },
    fetch: async (url, init) => {
      const { search } = new URL(url as string);
      if (init?.method !== "POST") asked.push(search);
      const response = await handler(new Request(url as string, init));
      if (init?.method !== "POST" || response.body === null) return response;
      const body = response.body.getReader();
      const breaks = broken.then(() => Promise.reject(new TypeError("network error")));
      const pull = async (controller: ReadableStreamDefaultController): Promise<void> =>
        controller.enqueue((await Promise.race([body.read(), breaks])).value);
      return new Response(new ReadableStream({ pull }), response);
    },
  });
  const chat = new Chat({ id: "chat-1", transport });
  const said = chat.sendMessage({ text: "Count." });
  await begun;
  await until(() => chat.messages.map(line).at(-1) === "assistant: One, ");
  breakOff();
  await said;
  expect(chat.status).toBe("error");
  goOn();
  await until(async () => (await statusOf(memories)) === "done");
  await chat.resumeStream();
  expect(chat.messages.map(line)).toEqual(["user: Count.", "assistant: One, two."]);
  expect(chat.status).toBe("ready");
  await chat.resumeStream();
  expect(chat.messages.map(line)).toEqual(["user: Count.", "assistant: One, two."]);
  expect(asked).toEqual([`?shown=${chat.lastMessage?.id}`, ""]);
  expect(failures).toEqual([]);
});

/** What a tab sends that may be closed. */
function asking(text: string, signal: AbortSignal): Request {
  const message = { id: text, role: "user", parts: [{ type: "text", text }] };
  return new Request("http://localhost/api/chat", {
    method: "POST",
    headers: { user: "ann", "content-type": "application/json" },
    body: JSON.stringify({ id: "chat-1", message }),
    signal,
  });
}

test("an answer goes on when its tab is closed", async () => {
  const { reply, begun, goOn } = slowly("One, ", "two.");
  const { server } = world(reply);
  const { memories, handler } = server();
  const gone = new AbortController();
  const response = await handler(asking("Count.", gone.signal));
  await begun;
  gone.abort();
  await response.body?.cancel();
  goOn();
  await until(async () => (await statusOf(memories)) === "done");
  expect(await storedLines(memories)).toEqual(["user: Count.", "assistant: One, two."]);
});

test("a question that still waits for its turn goes with its tab, and leaves nothing behind", async () => {
  const { server, prompts, failures } = world(says("One."), says("Two."));
  const { memories, handler, tab } = server();
  await tab().sendMessage({ text: "Count." });
  const memory = memories.get("chat-1", { owner: "ann" });
  const turnOver = gate();
  const turn = memory.turn(() => turnOver.opened);
  const turns = vi.spyOn(memory, "turn");
  const gone = new AbortController();
  const asked = handler(asking("Go on.", gone.signal));
  await until(() => turns.mock.calls.length > 0);
  gone.abort();
  expect((await asked).status).toBe(499);
  turnOver.open();
  await turn;
  await memory.turn(() => undefined);
  expect(await storedLines(memories)).toEqual(["user: Count.", "assistant: One."]);
  expect([prompts.length, failures]).toEqual([1, []]);
});

test("a waitUntil that throws is told, and the answer goes on", async () => {
  const { server, failures } = world(says("One."));
  const { tab } = server({
    waitUntil: () => {
      throw new TypeError("Illegal invocation");
    },
  });
  const chat = tab();
  await chat.sendMessage({ text: "Count." });
  expect(chat.messages.map(line)).toEqual(["user: Count.", "assistant: One."]);
  expect(chat.error).toBeUndefined();
  expect(failures).toEqual([expect.objectContaining({ message: "Illegal invocation" })]);
});

test("stop ends the answer on the server, and keeps what came", async () => {
  const { reply, begun } = slowly("One, ", "two.");
  const { server, failures } = world(reply, says("Yes?"));
  const { memories, tab } = server();
  const chat = tab();
  const asked = chat.sendMessage({ text: "Count." });
  await begun;
  await until(() => chat.messages.map(line).at(-1) === "assistant: One, ");
  await chat.stop();
  await asked;
  await until(async () => (await statusOf(memories)) === "stopped");
  expect(await storedLines(memories)).toEqual(["user: Count.", "assistant: One, "]);
  await chat.sendMessage({ text: "Wait." });
  expect((await storedLines(memories)).slice(2)).toEqual(["user: Wait.", "assistant: Yes?"]);
  expect(failures).toEqual([]);
});

test("a stream that fails is told, kept as failed, and can be asked for again", async () => {
  const { server, failures } = world(new Error("The model is away."), says("Hello."));
  const { memories, tab } = server({ settings: { maxRetries: 0 } });
  const chat = tab();
  await chat.sendMessage({ text: "Hello" });
  expect(chat.error?.message).toBe("An error occurred.");
  // The browser hears of it before it is stored.
  await until(async () => (await statusOf(memories)) === "failed");
  expect(failures).toEqual([expect.objectContaining({ message: "The model is away." })]);
  await chat.regenerate();
  expect(await storedLines(memories)).toEqual(["user: Hello", "assistant: Hello."]);
});

test("a page that is read while an answer ends shows the whole of it", async () => {
  const { reply, begun, goOn } = slowly("One, ", "two.");
  const { server } = world(reply);
  const { memories, tab, transport } = server();
  const asked = tab().sendMessage({ text: "Count." });
  await begun;
  await until(async () => (await storedLines(memories))[1] === "assistant: One, ");
  const memory = memories.get("chat-1", { owner: "ann" });
  const { running } = memory;
  memory.running = async () => {
    memory.running = running;
    goOn();
    await asked;
    return memory.running();
  };
  const { messages } = await transport().history("chat-1");
  expect(messages.map(line)).toEqual(["user: Count.", "assistant: One, two."]);
  expect((messages[1] as ChatMessage).metadata?.status).toBe("done");
});

test("who resumes sees the end of an answer that the next turn has moved out of the window", async () => {
  const { reply, begun, goOn } = slowly("One, ", "two.");
  const { server } = world(reply, says("Three."));
  const { memories, tab, transport } = server({ window: { maxMessages: 2, unit: "turn" } });
  const chat = tab();
  const asked = chat.sendMessage({ text: "Count." });
  await begun;
  await until(async () => (await storedLines(memories))[1] === "assistant: One, ");
  const loaded = tab((await transport().history("chat-1")).messages);
  const resumed = loaded.resumeStream();
  await until(() => loaded.status === "streaming");
  goOn();
  await asked;
  await chat.sendMessage({ text: "And?" });
  await resumed;
  expect(loaded.lastMessage && line(loaded.lastMessage)).toBe("assistant: One, two.");
});
