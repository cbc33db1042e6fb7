import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { chatTransport } from "@turnkeep/ai-sdk/client";
import { expect, test } from "vitest";
import { Chat } from "../src/browser.ts";
import { app } from "../src/hono.ts";
import { DELETE, GET, POST } from "../src/next-route.ts";
import { server } from "../src/node.ts";

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A chat through each of the servers, and all else that the transport asks for. */
async function use(name: string, send: Fetch, origin = "http://localhost:3000"): Promise<void> {
  const transport = chatTransport({
    api: `${origin}/api/chat`,
    headers: { user: name },
    fetch: (url, init) => send(url as string, init as RequestInit),
  });
  const chat = new Chat({ id: `chat-of-${name}`, transport });
  await chat.sendMessage({ text: "Hello" });
  expect(chat.error).toBeUndefined();
  expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const { messages } = await transport.history(chat.id);
  expect(messages).toEqual(JSON.parse(JSON.stringify(chat.messages)));
  expect(await transport.list()).toMatchObject({ chats: [{ id: chat.id }] });
  await chat.resumeStream();
  await transport.stop(chat.id);
  await transport.deleteMessage(chat.id, messages[0]?.id ?? "");
  await transport.deleteChat(chat.id);
  await expect(transport.history(chat.id)).rejects.toThrow("No such chat.");
}

test("Next.js calls the function of the request's method", async () => {
  const functions = new Map(Object.entries({ DELETE, GET, POST }));
  await use("next", async (url, init) => {
    const handle = functions.get(init.method ?? "GET");
    return handle ? handle(new Request(url, init)) : new Response(null, { status: 405 });
  });
});

test("Hono", async () => {
  await use("hono", async (url, init) => app.fetch(new Request(url, init)));
});

test("plain Node", async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await use("node", fetch, `http://127.0.0.1:${port}`);
  server.closeAllConnections();
  server.close();
});
