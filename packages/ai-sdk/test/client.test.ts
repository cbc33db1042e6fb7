import { gate } from "@turnkeep/store-tests/gate";
import { APICallError, type UIMessage, type UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { chatTransport } from "../src/client.ts";

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly body: { readonly [name: string]: unknown } | undefined;
}

/** A transport to a server that answers each post and each resumed stream with a stream that stays open. */
function transportTo(
  answer: (sent: Sent) => Response | undefined | Promise<Response | undefined> = () => undefined,
) {
  const sent: Sent[] = [];
  const transport = chatTransport({
    headers: async () => ({ authorization: "token" }),
    fetch: async (url, { method = "GET", body, headers } = {}) => {
      const request = { method, url: String(url), body: body ? JSON.parse(body as string) : undefined };
      sent.push(request);
      expect(new Headers(headers).get("authorization")).toBe("token");
      return (await answer(request)) ?? streaming();
    },
  });
  return { transport, sent, lines: () => sent.map(({ method, url }) => `${method} ${url}`) };
}

const start: UIMessageChunk = { type: "start", messageId: "a-1" };

/** A stream of these chunks, which stays open, ends or breaks. */
function streaming(chunks = [start], end: "open" | "closed" | "broken" = "open"): Response {
  const rest = chunks.values();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value: chunk } = rest.next();
      if (chunk !== undefined)
        return controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`));
      if (end === "closed") controller.close();
      if (end === "broken") controller.error(new TypeError("network error"));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const question = (id: string): UIMessage => ({ id, role: "user", parts: [{ type: "text", text: "Hello" }] });
const sending = (messages: UIMessage[], abortSignal: AbortSignal) =>
  ({ trigger: "submit-message", chatId: "chat-1", messageId: undefined, messages, abortSignal }) as const;
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("a post holds the newest message alone, and says what the tab has seen", async () => {
  const { transport, sent } = transportTo();
  const { signal } = new AbortController();
  const stream = await transport.sendMessages(sending([question("q-1")], signal));
  await stream.getReader().read();
  await transport.sendMessages(sending([question("q-1"), question("q-2")], signal));
  expect(sent.map(({ body }) => body)).toEqual([
    { id: "chat-1", message: question("q-1"), trigger: "submit-message" },
    { id: "chat-1", message: question("q-2"), trigger: "submit-message", seen: "a-1" },
  ]);
});

test("of an answer only the decisions are posted", async () => {
  const { transport, sent } = transportTo();
  const call = {
    toolCallId: "c",
    input: { city: "Oslo" },
    callProviderMetadata: { any: { signature: "s" } },
  };
  const decisions = [
    { type: "tool-book", state: "approval-responded", approval: { id: "1", approved: true } },
    {
      type: "dynamic-tool",
      state: "approval-responded",
      approval: { id: "2", approved: false, reason: "No." },
    },
  ];
  const parts = [
    { type: "text", text: "May I?" },
    { ...call, type: "tool-look", state: "output-available", output: "seen" },
    ...decisions.map((decision) => ({ ...call, ...decision })),
  ] as UIMessage["parts"];
  await transport.sendMessages(
    sending([{ id: "a", role: "assistant", parts }], new AbortController().signal),
  );
  expect(sent[0]?.body?.message).toEqual({ id: "a", role: "assistant", parts: decisions });
});

test("what is stopped in the browser is stopped on the server, before anything else is posted", async () => {
  const stopping = gate();
  const { transport, lines } = transportTo(async ({ url }) => {
    if (!url.endsWith("/stop")) return undefined;
    await stopping.opened;
    return Response.json({ stopped: true });
  });
  const controller = new AbortController();
  await transport.sendMessages(sending([question("q-1")], controller.signal));
  controller.abort();
  await turns();
  const next = transport.sendMessages(sending([question("q-2")], new AbortController().signal));
  await turns();
  expect(lines()).toEqual(["POST /api/chat", "POST /api/chat/chat-1/stop"]);
  stopping.open();
  await next;
  expect(lines()).toHaveLength(3);
});

test("a stream that is resumed once more stops nothing, and one that the user stops does", async () => {
  const { transport, lines } = transportTo();
  const [first, second] = [new AbortController(), new AbortController()];
  await transport.reconnectToStream({ chatId: "chat-1", abortSignal: first.signal });
  // As the SDK's chat does it.
  first.abort();
  await transport.reconnectToStream({ chatId: "chat-1", abortSignal: second.signal });
  await turns();
  expect(lines()).toEqual(["GET /api/chat/chat-1/stream", "GET /api/chat/chat-1/stream"]);
  second.abort();
  await turns();
  expect(lines().at(-1)).toBe("POST /api/chat/chat-1/stop");
});

test("what is stopped is stopped, though something was asked for in another chat since", async () => {
  const { transport, lines } = transportTo();
  const controller = new AbortController();
  await transport.sendMessages(sending([question("q-1")], controller.signal));
  const { signal } = new AbortController();
  await transport.sendMessages({ ...sending([question("q-2")], signal), chatId: "chat-2" });
  await transport.reconnectToStream({ chatId: "chat-3" });
  controller.abort();
  await turns();
  expect(lines().slice(3)).toEqual(["POST /api/chat/chat-1/stop"]);
});

/** Reads an answer up to its end, or to where it breaks. */
async function read(stream: ReadableStream<UIMessageChunk> | null): Promise<unknown> {
  const reader = (stream as ReadableStream<UIMessageChunk>).getReader();
  try {
    while (!(await reader.read()).done);
  } catch (error) {
    return error;
  }
  return undefined;
}

const finish: UIMessageChunk = { type: "finish" };
const part = "GET /api/chat/chat-1/stream?shown=a-1";
const none = "GET /api/chat/chat-1/stream";

test.each([
  ["broke", [start], "broken", part],
  ["was cut off as if it had ended", [start], "closed", part],
  ["broke before it began", [], "broken", none],
  ["broke behind the end of the answer", [start, finish], "broken", none],
  ["ended with the answer", [start, finish], "closed", none],
] as const)(
  "an answer whose connection %s is asked for whole if the page has a part of it alone",
  async (...row) => {
    const [, chunks, end, resumed] = row;
    const { transport, lines } = transportTo(() => streaming([...chunks], end));
    const { signal } = new AbortController();
    const error = await read(await transport.sendMessages(sending([question("q-1")], signal)));
    expect(error === undefined).toBe(end === "closed");
    await read(await transport.reconnectToStream({ chatId: "chat-1" }));
    await read(await transport.reconnectToStream({ chatId: "chat-2" }));
    expect(lines().slice(1)).toEqual([resumed, none.replace("chat-1", "chat-2")]);
  },
);

test("what of an answer is missing is asked for until it comes, is there no more, or something else is asked", async () => {
  const answers = [
    () => streaming([start], "broken"),
    () => new Response("{}", { status: 500 }),
    () => new Response(null, { status: 204 }),
    () => new Response(null, { status: 204 }),
    () => streaming([start], "broken"),
    () => streaming([start, finish], "closed"),
    () => streaming([start], "broken"),
    () => new Response("{}", { status: 413 }),
    () => new Response(null, { status: 204 }),
  ].values();
  const { transport, lines } = transportTo(() => answers.next().value?.());
  const send = async (id: string): Promise<unknown> =>
    read(await transport.sendMessages(sending([question(id)], new AbortController().signal)));
  const resume = () => transport.reconnectToStream({ chatId: "chat-1" });
  await send("q-1");
  await expect(resume()).rejects.toThrow();
  expect([await resume(), await resume()]).toEqual([null, null]);
  await send("q-2");
  await read(await resume());
  await send("q-3");
  await expect(send("q-4")).rejects.toThrow();
  expect(await resume()).toBeNull();
  const post = "POST /api/chat";
  expect(lines()).toEqual([post, part, part, none, post, part, post, post, none]);
});

test("that nothing was there to resume says nothing of an answer that was asked for since", async () => {
  const late = gate();
  const answers = [
    () => late.opened.then(() => new Response(null, { status: 204 })),
    () => streaming([start], "broken"),
    () => streaming([start, finish], "closed"),
  ].values();
  const { transport, lines } = transportTo(() => answers.next().value?.());
  const resumed = transport.reconnectToStream({ chatId: "chat-1" });
  await turns();
  await read(await transport.sendMessages(sending([question("q-1")], new AbortController().signal)));
  late.open();
  expect(await resumed).toBeNull();
  await read(await transport.reconnectToStream({ chatId: "chat-1" }));
  expect(lines().at(-1)).toBe(part);
});

const page = { messages: [question("q-0")] };

test.each([
  ["history", page],
  ["tree", { messages: [{ parentId: null, message: question("q-0") }], headId: "q-0" }],
  ["restoreVersion", page],
] as const)("what %s tells late says nothing of an answer that has begun since", async (what, told) => {
  const late = gate();
  const answers = [
    () => late.opened.then(() => Response.json(told)),
    () => streaming([start], "broken"),
    () => streaming([start, finish], "closed"),
  ].values();
  const { transport, sent, lines } = transportTo(() => answers.next().value?.());
  const { signal } = new AbortController();
  const loaded = what === "restoreVersion" ? transport[what]("chat-1", "q-0") : transport[what]("chat-1");
  await turns();
  await read(await transport.sendMessages(sending([question("q-1")], signal)));
  late.open();
  expect(await loaded).toEqual(told);
  await read(await transport.reconnectToStream({ chatId: "chat-1" }));
  expect(lines().at(-1)).toBe(part);
  await transport.sendMessages(sending([question("q-2")], signal));
  expect(sent.at(-1)?.body?.seen).toBe("a-1");
});

test("a page that comes late is what the tab shows where nothing was there to resume", async () => {
  const late = gate();
  const answers = [
    () => late.opened.then(() => Response.json(page)),
    () => new Response(null, { status: 204 }),
  ].values();
  const { transport, sent } = transportTo(() => answers.next().value?.());
  const loaded = transport.history("chat-1");
  await turns();
  expect(await transport.reconnectToStream({ chatId: "chat-1" })).toBeNull();
  late.open();
  await loaded;
  await transport.sendMessages(sending([question("q-1")], new AbortController().signal));
  expect(sent.at(-1)?.body?.seen).toBe("q-0");
});

test("a page that comes late does not bring a message back that was deleted since", async () => {
  const late = gate();
  const whole = { messages: [question("q-0"), question("q-1")] };
  const answers = [
    () => Response.json(whole),
    () => late.opened.then(() => Response.json(whole)),
    () => Response.json(whole),
    () => new Response(null, { status: 204 }),
  ].values();
  const { transport, sent } = transportTo(() => answers.next().value?.());
  await transport.history("chat-1");
  const loaded = transport.history("chat-1");
  await turns();
  await transport.deleteMessage("chat-1", "q-1");
  late.open();
  await loaded;
  await transport.sendMessages(sending([question("q-2")], new AbortController().signal));
  expect(sent.at(-1)?.body?.seen).toBe("q-0");
});

test("a signal that fires when the answer is over stops nothing", async () => {
  const { transport, lines } = transportTo(() => new Response("data: [DONE]\n\n"));
  const controller = new AbortController();
  const stream = await transport.sendMessages(sending([question("q-1")], controller.signal));
  for await (const _ of stream as unknown as AsyncIterable<unknown>);
  controller.abort();
  await turns();
  expect(lines()).toHaveLength(1);
});

test("an error is the SDK's for calls of an API, with the server's sentence and its status", async () => {
  const refuse = (text: string) => transportTo(() => new Response(text, { status: 409 })).transport;
  const { signal } = new AbortController();
  const send = (text: string) => refuse(text).sendMessages(sending([question("q-1")], signal));
  await expect(send('{"error":"Load it again."}')).rejects.toThrow(/^Load it again\.$/);
  await expect(send("<html>")).rejects.toThrow("<html>");
  const refused = refuse('{"error":"Load it again."}');
  await expect(refused.list()).rejects.toThrow(/^Load it again\.$/);
  for (const request of [send("{}"), refused.list(), refused.reconnectToStream({ chatId: "chat-1" })]) {
    const error = await request.catch((error: unknown) => error);
    expect(APICallError.isInstance(error) && error.statusCode).toBe(409);
  }
});
