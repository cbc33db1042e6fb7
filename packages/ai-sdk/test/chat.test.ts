import {
  type ChatMemories,
  createChatMemories,
  entry,
  inMemoryStore,
  type WindowOptions,
} from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { gate } from "@turnkeep/store-tests/gate";
import { isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, tool, type UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { chatTransport, type TurnkeepChatTransport } from "../src/client.ts";
import { type ChatHandlerOptions, type ChatMessage, type ChatPage, chatHandler } from "../src/index.ts";
import { Chat, line } from "./browser.ts";
import { callsTool, modelOf, type Part, type Reply, says, told } from "./models.ts";

type Memories = ChatMemories<UIMessage>;
interface Settings extends Partial<ChatHandlerOptions> {
  readonly window?: WindowOptions<UIMessage>;
}

/** A server over a store, with a model that answers these; several servers of one store are several processes. */
function world(...replies: Reply[]) {
  const store = inMemoryStore();
  const { model, prompts } = modelOf(...replies);
  const failures: unknown[] = [];
  const server = ({ window, ...settings }: Settings = {}) => {
    const memories: Memories = createChatMemories({ store, format: uiMessageFormat<UIMessage>(), window });
    const handler = chatHandler({
      memories,
      owner: ({ headers }) => headers.get("user") ?? undefined,
      model,
      onError: (error) => failures.push(error),
      ...settings,
    } as ChatHandlerOptions);
    const transport = (user = "ann"): TurnkeepChatTransport<UIMessage> =>
      chatTransport({
        api: "http://localhost/api/chat",
        headers: { user },
        fetch: async (url, init) => handler(new Request(url as string, init)),
      });
    /** A browser's tab, which begins with these messages. */
    const tab = (messages: UIMessage[] = [], user = "ann"): Chat =>
      new Chat({
        id: "chat-1",
        messages,
        transport: transport(user),
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      });
    return { memories, handler, transport, tab };
  };
  return { server, prompts, failures };
}

async function stored(memories: Memories): Promise<UIMessage[]> {
  const { messages } = await memories.get("chat-1").history({ states: ["live", "evicted"] });
  return messages.map(({ message }) => message);
}

const storedLines = async (memories: Memories): Promise<string[]> => (await stored(memories)).map(line);

const statusOf = async (memories: Memories): Promise<unknown> =>
  ((await stored(memories)).at(-1) as ChatMessage).metadata?.status;

/** What a process leaves that dies in its first answer. */
const died: readonly UIMessage[] = [
  { id: "q", role: "user", parts: [{ type: "text", text: "Count." }] },
  { id: "a", role: "assistant", metadata: { status: "streaming" }, parts: [{ type: "text", text: "One, " }] },
];

const usage = { inputTokens: 40, outputTokens: 8, cachedInputTokens: 30 };

test("a new chat, a second turn, and a page that is loaded", async () => {
  const { server, prompts, failures } = world(says("Hello, Ann."), says("You are Ann."));
  const { memories, tab, transport } = server();
  const chat = tab();
  await chat.sendMessage({ text: "I am Ann." });
  expect(chat.messages.map(line)).toEqual(["user: I am Ann.", "assistant: Hello, Ann."]);
  await chat.sendMessage({ text: "Who am I?" });
  const all = ["user: I am Ann.", "assistant: Hello, Ann.", "user: Who am I?", "assistant: You are Ann."];
  expect(chat.messages.map(line)).toEqual(all);
  expect(prompts[1]?.map(told)).toEqual(all.slice(0, 3));
  // What a browser shows and what another loads is the same.
  const { messages } = await transport().history("chat-1");
  expect(JSON.parse(JSON.stringify(chat.messages))).toEqual(messages);
  expect(await stored(memories)).toEqual(messages);
  expect(messages[3]?.metadata).toEqual({ status: "done", usage });
  const loaded = tab(messages);
  expect(loaded.messages.map(line)).toEqual(all);
  expect(failures).toEqual([]);
});

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

test("a question that was moved here under another id is answered anew, not asked twice", async () => {
  const { server, failures } = world(says("One."));
  const { memories, tab } = server();
  const memory = memories.get("chat-1", { owner: "ann" });
  const text = (text: string) => [{ type: "text" as const, text }];
  await memory.add({ id: "q1", role: "user", parts: text("Count.") });
  await memory.add({ id: "a1", role: "assistant", parts: text("None.") });
  const chat = tab();
  chat.messages = (await memory.entries()).map(({ message }) =>
    structuredClone(message),
  ) as typeof chat.messages;
  await chat.regenerate();
  expect((await memory.messages()).map(line)).toEqual(["user: Count.", "assistant: One."]);
  expect(failures).toEqual([]);
});

test("a new question is not looked for in all that was said", async () => {
  const { server, failures } = world(says("One."), says("Two."));
  const { memories, tab } = server();
  const chat = tab();
  await chat.sendMessage({ text: "Count." });
  memories.get("chat-1", { owner: "ann" }).historyPages = () => {
    throw new Error("It reads the whole history.");
  };
  await chat.sendMessage({ text: "Go on." });
  expect(chat.messages.map(line).at(-1)).toBe("assistant: Two.");
  expect(failures).toEqual([]);
});

/** A tool that books when the user has said so, and how often it has. */
function booking() {
  let count = 0;
  const book = tool({
    description: "books",
    inputSchema: z.object({ city: z.string() }),
    needsApproval: true,
    execute: async ({ city }) => `${city} ${++count}`,
  });
  return { tools: { book }, count: () => count };
}

const approvalIn = (chat: Chat): string => {
  const part = chat.lastMessage?.parts.find((part) => "approval" in part);
  return (part as { approval: { id: string } }).approval.id;
};

test("a call that two tabs approve at once is carried out once", async () => {
  const { server, prompts } = world(callsTool("book", { city: "Oslo" }), says("Booked."));
  const { tools, count } = booking();
  const { memories, tab, transport } = server({ tools });
  const chat = tab();
  await chat.sendMessage({ text: "Book it." });
  const other = tab((await transport().history("chat-1")).messages);
  expect(chat.messages.map(line)).toEqual(["user: Book it.", "assistant: [approval-requested]"]);
  await Promise.all(
    [chat, other].map(async (chat) => {
      await chat.addToolApprovalResponse({ id: approvalIn(chat), approved: true });
      await settled(chat);
    }),
  );
  expect(count()).toBe(1);
  expect(prompts).toHaveLength(2);
  expect(
    [chat.error, other.error].filter((error) => error !== undefined).map(({ message }) => message),
  ).toEqual([expect.stringContaining("No call waits")]);
  const all = ["user: Book it.", "assistant: [output-available] Booked."];
  expect(await storedLines(memories)).toEqual(all);
  const [, answer] = await stored(memories);
  expect(answer?.metadata).toEqual({
    status: "done",
    usage: { inputTokens: 80, outputTokens: 16, cachedInputTokens: 60 },
  });
});

/** The automatic request begins behind the call that causes it. */
async function settled(chat: Chat): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  while (chat.status === "submitted" || chat.status === "streaming")
    await new Promise((resolve) => setTimeout(resolve, 5));
}

test("a call that the user refuses is not carried out", async () => {
  const { server } = world(callsTool("book", { city: "Oslo" }), says("Not booked."));
  const { tools, count } = booking();
  const { memories, tab } = server({ tools });
  const chat = tab();
  await chat.sendMessage({ text: "Book it." });
  await chat.addToolApprovalResponse({ id: approvalIn(chat), approved: false, reason: "Too dear." });
  await settled(chat);
  expect(count()).toBe(0);
  expect(await storedLines(memories)).toEqual(["user: Book it.", "assistant: [output-denied] Not booked."]);
});

test.each([true, false])(
  "a decision that leaves no room for the answer is refused, and the calls wait on (approved: %s)",
  async (approved) => {
    let maxMessages = 40;
    const { server, failures } = world(callsTool("book", { city: "Oslo" }), says("Done."));
    const { tools, count } = booking();
    const { memories, tab, transport } = server({
      tools,
      // A token is a message here.
      window: {
        maxTokens: () => maxMessages,
        counter: { name: "messages", count: () => 1 },
        reserve: 10,
        unit: "turn",
      },
    });
    const chat = tab();
    await chat.sendMessage({ text: "Book it." });
    maxMessages = 11;
    await chat.addToolApprovalResponse({ id: approvalIn(chat), approved });
    await settled(chat);
    expect(chat.error).toMatchObject({ statusCode: 413 });
    const [, answer] = await stored(memories);
    expect((answer as ChatMessage).metadata?.status).toBe("done");
    expect(await storedLines(memories)).toEqual(["user: Book it.", "assistant: [approval-requested]"]);
    maxMessages = 40;
    const again = tab((await transport().history("chat-1")).messages);
    await again.addToolApprovalResponse({ id: approvalIn(again), approved });
    await settled(again);
    expect(count()).toBe(approved ? 1 : 0);
    expect((await storedLines(memories)).at(-1)).toMatch(/Done\.$/);
    expect(failures).toEqual([]);
  },
);

test.each([
  ["that is deleted", -1, ["user: Pay."]],
  ["whose question is deleted", -2, ["assistant: [input-available]"]],
])(
  "an answer %s while it is being made ends at once, and the next question does not wait for it",
  async (_what, place, left) => {
    const begun = gate();
    const tools = {
      pay: tool({
        inputSchema: z.object({}),
        execute: (_, { abortSignal }) =>
          new Promise<string>((_resolve, reject) => {
            abortSignal?.addEventListener("abort", () => reject(abortSignal.reason));
            begun.open();
          }),
      }),
    };
    const titled: string[][] = [];
    const title = (messages: UIMessage[]): string => {
      titled.push(messages.map(line));
      return "Pay";
    };
    const { server, failures } = world(callsTool("pay"), says("Yes?"));
    const { memories, tab, transport } = server({ tools, title });
    const chat = tab();
    const asked = chat.sendMessage({ text: "Pay." });
    await begun.opened;
    // Once that is kept, nothing more is, which would find the answer gone.
    await until(async () => (await storedLines(memories)).at(-1) === "assistant: [input-available]");
    // Of another tab.
    const { messages } = await transport().history("chat-1");
    await transport().deleteMessage("chat-1", messages.at(place)?.id as string);
    await asked;
    expect(await storedLines(memories)).toEqual(left);
    await tab(messages).sendMessage({ text: "Wait." });
    expect(await storedLines(memories)).toEqual([...left, "user: Wait.", "assistant: Yes?"]);
    await until(async () => (await transport().chat("chat-1")).title !== undefined);
    // Of a question that is not there any more, none is made.
    expect(titled.some((lines) => lines[0] === "user: Pay." && lines.length === 2)).toBe(place === -1);
    expect(failures).toEqual([]);
  },
);

test("an answer goes on when something older is deleted", async () => {
  const { reply, begun, goOn } = slowly("Booked, ", "all.");
  const { tools } = booking();
  const { server, failures } = world(says("One."), callsTool("book", { city: "Oslo" }), reply);
  const { memories, tab, transport } = server({ tools });
  const chat = tab();
  await chat.sendMessage({ text: "Count." });
  await chat.sendMessage({ text: "Book it." });
  const [question = "", answer = "", last = ""] = chat.messages.map(({ id }) => id);
  // The calls of the last answer are decided on, and nothing is left of the one before but what stands behind no question.
  await transport().deleteMessage("chat-1", last);
  await chat.addToolApprovalResponse({ id: approvalIn(chat), approved: true });
  await begun;
  await transport().deleteMessage("chat-1", answer);
  expect(await storedLines(memories)).toContain("user: Count.");
  goOn();
  await settled(chat);
  expect(await storedLines(memories)).toEqual(["user: Count.", "assistant: [output-available] Booked, all."]);
  await transport().deleteMessage("chat-1", question);
  expect(await statusOf(memories)).toBe("done");
  expect(failures).toEqual([]);
});

test.each<[string, (transport: TurnkeepChatTransport<UIMessage>, ids: string[]) => Promise<unknown>]>([
  ["stopped", (transport) => transport.stop("chat-1")],
  ["deleted", (transport) => transport.deleteChat("chat-1")],
  ["shown in a version", (transport, ids) => transport.restoreVersion("chat-1", ids[1] as string)],
  ["without a message", (transport, ids) => transport.deleteMessage("chat-1", ids[1] as string)],
])("a chat can be %s in a process that has looked for it before it began", async (_what, act) => {
  const { server, failures } = world(says("One."));
  const other = server().transport();
  expect(await other.reconnectToStream({ chatId: "chat-1" })).toBeNull();
  const chat = server().tab();
  await chat.sendMessage({ text: "Count." });
  await act(
    other,
    chat.messages.map(({ id }) => id),
  );
  expect(failures).toEqual([]);
});

test.each(["deleted", "deleted and begun anew"])(
  "a question that waits for its turn in a chat that is %s meanwhile is 404, and is not in what is there then",
  async (how) => {
    const { server, prompts, failures } = world(says("Yes?"));
    const { memories, tab, transport } = server();
    const chat = tab();
    await chat.sendMessage({ text: "Hello." });
    const memory = memories.get("chat-1", { owner: "ann" });
    const turnOver = gate();
    const turn = memory.turn(() => turnOver.opened);
    const begun = vi.spyOn(memory, "turn");
    const waits = chat.sendMessage({ text: "Pay." });
    await until(() => begun.mock.calls.length > 0);
    // By another process.
    const other = server().memories.get("chat-1", { owner: "ann" });
    await other.clear();
    if (how !== "deleted")
      await other.add({ id: "q", role: "user", parts: [{ type: "text", text: "New." }] });
    turnOver.open();
    await Promise.all([turn, waits]);
    expect(chat.error).toMatchObject({ statusCode: 404 });
    expect(await storedLines(memories)).toEqual(how === "deleted" ? [] : ["user: New."]);
    expect((await transport().list()).chats).toHaveLength(how === "deleted" ? 0 : 1);
    expect([prompts.length, failures]).toEqual([1, []]);
  },
);

test.each(["decision", "version"])(
  "a %s that waits for its turn in a chat that is deleted meanwhile begins none",
  async (what) => {
    const { server, prompts, failures } = world(says("None."), callsTool("book", { city: "Oslo" }));
    const { tools, count } = booking();
    const { memories, tab, transport } = server({ tools });
    const chat = tab();
    await chat.sendMessage({ text: "Book it." });
    const first = chat.lastMessage?.id as string;
    await chat.regenerate();
    const memory = memories.get("chat-1", { owner: "ann" });
    const turnOver = gate();
    const turn = memory.turn(() => turnOver.opened);
    const begun = vi.spyOn(memory, "turn");
    const decide = async (): Promise<unknown> => {
      await chat.addToolApprovalResponse({ id: approvalIn(chat), approved: true });
      await settled(chat);
      return chat.error;
    };
    const restore = () => transport().restoreVersion("chat-1", first);
    const waits = (what === "decision" ? decide() : restore()).catch((error: unknown) => error);
    await until(() => begun.mock.calls.length > 0);
    await server().memories.get("chat-1", { owner: "ann" }).clear();
    turnOver.open();
    await turn;
    expect(await waits).toMatchObject({ statusCode: 404 });
    expect(await transport().list()).toEqual({ chats: [] });
    expect([prompts.length, count(), failures]).toEqual([2, 0, []]);
  },
);

test("a question whose chat is deleted at the beginning of its turn is 409", async () => {
  const { server, failures } = world(says("Yes?"));
  const { memories, tab } = server();
  const chat = tab();
  await chat.sendMessage({ text: "Hello." });
  const memory = memories.get("chat-1", { owner: "ann" });
  const turn = memory.turn.bind(memory);
  memory.turn = (run, options) =>
    turn(async (held) => {
      await server().memories.get("chat-1", { owner: "ann" }).clear();
      return run(held);
    }, options);
  await chat.sendMessage({ text: "Pay." });
  expect(chat.error).toMatchObject({ statusCode: 409 });
  expect(await storedLines(memories)).toEqual([]);
  expect(failures).toEqual([]);
});

/** A model whose answer has two parts, the second when it may. */
function slowly(before: string, after: string) {
  const [begun, goesOn] = [gate(), gate()];
  const reply = async function* () {
    yield { type: "text-start", id: "1" };
    yield { type: "text-delta", id: "1", delta: before };
    begun.open();
    await goesOn.opened;
    yield { type: "text-delta", id: "1", delta: after };
    yield { type: "text-end", id: "1" };
  };
  return { reply, begun: begun.opened, goOn: goesOn.open };
}

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

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

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

test("an answer goes on when its tab is closed", async () => {
  const { reply, begun, goOn } = slowly("One, ", "two.");
  const { server } = world(reply);
  const { memories, handler } = server();
  const gone = new AbortController();
  const message = { id: "q-1", role: "user", parts: [{ type: "text", text: "Count." }] };
  const response = await handler(
    new Request("http://localhost/api/chat", {
      method: "POST",
      headers: { user: "ann", "content-type": "application/json" },
      body: JSON.stringify({ id: "chat-1", message }),
      signal: gone.signal,
    }),
  );
  await begun;
  gone.abort();
  await response.body?.cancel();
  goOn();
  await until(async () => (await statusOf(memories)) === "done");
  expect(await storedLines(memories)).toEqual(["user: Count.", "assistant: One, two."]);
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

test("two devices: both turns are kept, and each answer follows its question", async () => {
  const { server } = world(says("One."), says("Two."), says("Three."));
  const { memories, tab, transport } = server();
  const chat = tab();
  await chat.sendMessage({ text: "Hello" });
  const other = tab((await transport().history("chat-1")).messages);
  await Promise.all([chat.sendMessage({ text: "Left" }), other.sendMessage({ text: "Right" })]);
  const lines = await storedLines(memories);
  expect(lines.map((text) => text.split(":")[0])).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
    "assistant",
  ]);
  expect(lines.filter((text) => text.startsWith("user")).sort()).toEqual([
    "user: Hello",
    "user: Left",
    "user: Right",
  ]);
});

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

test("a chat gets a title from the application, once, and the list shows it, newest first", async () => {
  const { server, failures } = world(...Array.from({ length: 4 }, () => says("Yes.")), says("Yes."));
  const asked: string[][] = [];
  const { memories, transport } = server({
    title: (messages) => {
      asked.push(messages.map(line));
      return `About ${line(messages[0] as UIMessage).slice("user: ".length)}`;
    },
  });
  const ann = transport();
  const say = (id: string, text: string) => new Chat({ id, transport: ann }).sendMessage({ text });
  await say("chat-1", "fjords");
  await until(async () => (await ann.list()).chats[0]?.title !== undefined);
  await say("chat-2", "trains");
  await until(async () => (await ann.list()).chats.every(({ title }) => title !== undefined));
  expect((await ann.list()).chats).toEqual([
    { id: "chat-2", title: "About trains", updatedAt: expect.any(Number) },
    { id: "chat-1", title: "About fjords", updatedAt: expect.any(Number) },
  ]);
  await say("chat-1", "Go on");
  expect(asked).toEqual([
    ["user: fjords", "assistant: Yes."],
    ["user: trains", "assistant: Yes."],
  ]);
  // What the application says beside it stays, and a title of its own is not replaced.
  await memories.get("chat-3", { owner: "ann" }).update({ tags: ["sea"], title: "Mine" });
  await memories.get("chat-4", { owner: "ann" }).update({ tags: ["sea"] });
  await say("chat-3", "boats");
  await say("chat-4", "boats");
  await until(async () => (await memories.get("chat-4").data())?.["title" as never] !== undefined);
  expect(await memories.get("chat-3").data()).toEqual({ tags: ["sea"], title: "Mine" });
  expect(await memories.get("chat-4").data()).toEqual({ tags: ["sea"], title: "About boats" });
  expect(failures).toEqual([]);
});

test("a title that somebody gives meanwhile stays, and so does data of another shape", async () => {
  const { server, failures } = world(says("Yes."), says("Yes."));
  const given: string[] = [];
  const { memories, transport } = server({
    title: async () => {
      const id = given.length === 0 ? "chat-1" : "chat-2";
      await memories.get(id).update(given.length === 0 ? { title: "Theirs" } : "a text");
      given.push(id);
      return "Ours";
    },
  });
  for (const id of ["chat-1", "chat-2"]) {
    await new Chat({ id, transport: transport() }).sendMessage({ text: "Hello" });
    await until(() => given.includes(id));
  }
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(await memories.get("chat-1").data()).toEqual({ title: "Theirs" });
  expect(await memories.get("chat-2").data()).toBe("a text");
  expect(failures).toEqual([]);
});

test.each(["deleted", "begun anew", "begun anew by somebody else"])(
  "a chat that is %s while its title is made gets none, and nobody is told of a fault",
  async (how) => {
    const { server, failures } = world(says("Yes."));
    const [asked, goesOn, over] = [gate(), gate(), gate()];
    const { tab } = server({
      title: async () => {
        asked.open();
        await goesOn.opened;
        return "Old";
      },
      waitUntil: (work) => void work.then(over.open),
    });
    await tab().sendMessage({ text: "Hello" });
    await asked.opened;
    const { memories } = server();
    await memories.get("chat-1", { owner: "ann" }).clear();
    const owner = how === "begun anew" ? "ann" : "bob";
    if (how !== "deleted") await memories.get("chat-1", { owner }).update({ tags: ["new"] });
    goesOn.open();
    await over.opened;
    const { memories: listed } = await memories.list();
    expect(listed.map(({ data }) => data)).toEqual(how === "deleted" ? [] : [{ tags: ["new"] }]);
    expect(failures).toEqual([]);
  },
);

test.each(["deleted", "begun anew", "begun anew by somebody else"])(
  "of a chat that is %s while it is answered no title is made",
  async (how) => {
    const { reply, begun, goOn } = slowly("One, ", "two.");
    const { server, failures } = world(reply);
    const [over, titled] = [gate(), vi.fn(() => "Old")];
    const { tab } = server({ title: titled, waitUntil: (work) => void work.then(over.open) });
    const asked = tab().sendMessage({ text: "Count." });
    await begun;
    const { memories } = server();
    await memories.get("chat-1", { owner: "ann" }).clear();
    const owner = how === "begun anew" ? "ann" : "bob";
    if (how !== "deleted") await memories.get("chat-1", { owner }).update({ tags: ["new"] });
    goOn();
    await asked;
    await over.opened;
    expect(titled).not.toHaveBeenCalled();
    expect(failures).toEqual([]);
  },
);

test("a title that fails is told, and the chat goes on without", async () => {
  const { server, failures } = world(says("Yes."), says("Yes."));
  const { memories, tab } = server({
    title: () => {
      throw new Error("no title");
    },
  });
  const chat = tab();
  for (const text of ["1?", "2?"]) await chat.sendMessage({ text });
  expect(await storedLines(memories)).toEqual(["user: 1?", "assistant: Yes.", "user: 2?", "assistant: Yes."]);
  await until(() => failures.length === 2);
  expect(failures).toEqual([expect.objectContaining({ message: "no title" }), expect.anything()]);
});

test.each(["stopped", "failed", "thrown", "interrupted"] as const)(
  "a chat whose first answer was cut off (%s) gets a title all the same, once",
  async (how) => {
    const { reply, begun } = slowly("One, ", "two.");
    const breaking = (): AsyncGenerator<Part> =>
      (async function* () {
        yield { type: "text-start", id: "0" };
        yield { type: "text-delta", id: "0", delta: "One, " };
        throw new Error("The model is away.");
      })();
    const firsts = { stopped: [reply], failed: [breaking], thrown: [new Error("away")], interrupted: [] };
    const { server } = world(...firsts[how], says("Yes?"), says("Three."));
    const titled: string[][] = [];
    const title = (messages: UIMessage[]): string => {
      titled.push(messages.map(line));
      return `Title ${titled.length}`;
    };
    const settings = { settings: { maxRetries: 0 }, title };
    const { memories, tab } = server(settings);
    const memory = memories.get("chat-1", { owner: "ann" });
    const cut = ["user: Count.", how === "thrown" ? "assistant: " : "assistant: One, "];
    if (how === "interrupted") await memory.add(...died);
    else {
      const chat = tab();
      const asked = chat.sendMessage({ text: "Count." });
      if (how === "stopped") {
        await begun;
        await until(() => chat.messages.map(line).at(-1) === "assistant: One, ");
        await chat.stop();
      }
      await asked;
      await until(async () => (await memory.data()) !== undefined);
    }
    // The process of an answer that was interrupted is no more: another one gives the title, with the next answer.
    for (const text of ["Go on.", "And?"]) {
      await server(settings)
        .tab(await stored(memories))
        .sendMessage({ text });
      await until(async () => (await memory.data()) !== undefined);
    }
    const rest = how === "interrupted" ? ["user: Go on.", "assistant: Yes?"] : [];
    expect(titled).toEqual([[...cut, ...rest]]);
    expect(await memory.data()).toEqual({ title: "Title 1" });
    expect(await storedLines(memories)).toHaveLength(6);
  },
);

test("a title that is empty is none: the next answer gives one", async () => {
  const { server, failures } = world(new Error("away"), says("Yes."), says("No."));
  const titles = ["", " \n", "Fjords"];
  let asked = 0;
  const { memories, tab } = server({
    settings: { maxRetries: 0, onError: () => undefined },
    title: () => titles[asked++] as string,
  });
  const chat = tab();
  for (const text of ["1?", "2?", "3?"]) {
    const before = asked;
    await chat.sendMessage({ text });
    await until(() => asked > before);
  }
  const memory = memories.get("chat-1", { owner: "ann" });
  await until(async () => (await memory.data()) !== undefined);
  expect(await memory.data()).toEqual({ title: "Fjords" });
  expect(failures).toEqual([]);
});

test("a title that is asked for once a call was decided on is of each message once", async () => {
  const { server } = world(callsTool("book"), says("Booked."));
  const asked: string[][] = [];
  const { memories, tab } = server({
    tools: { book: tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "Seat 7" }) },
    title: (messages) => {
      asked.push(messages.map(({ role }) => role));
      return asked.length === 1 ? "" : "Trains";
    },
  });
  const chat = tab();
  await chat.sendMessage({ text: "Book it." });
  await until(() => asked.length === 1);
  const call = chat.lastMessage?.parts.find(isToolUIPart);
  await chat.addToolApprovalResponse({ id: call?.approval?.id ?? "", approved: true });
  const memory = memories.get("chat-1", { owner: "ann" });
  await until(async () => (await memory.data()) !== undefined);
  expect(asked).toEqual([
    ["user", "assistant"],
    ["user", "assistant"],
  ]);
});

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

test("an agent answers, with its own tools", async () => {
  const { ToolLoopAgent } = await import("ai");
  const { model } = modelOf(callsTool("look"), says("Seen."));
  const look = tool({ description: "looks", inputSchema: z.object({}), execute: async () => "seen" });
  const agent = new ToolLoopAgent({ model, tools: { look } });
  const { server, failures } = world();
  const { memories, tab } = server({ model: undefined, agent });
  const chat = tab();
  await chat.sendMessage({ text: "Look." });
  expect(await storedLines(memories)).toEqual(["user: Look.", "assistant: [output-available] Seen."]);
  expect(failures).toEqual([]);
});

test("says what is wrong with its options", () => {
  const memories = createChatMemories({ store: inMemoryStore(), format: uiMessageFormat<UIMessage>() });
  const owner = (): string => "ann";
  expect(() => chatHandler({ memories, owner })).toThrow("a model or an agent");
  expect(() => chatHandler({ memories, owner, model: "m", tool: {} } as never)).toThrow("tool");
  expect(() => chatHandler({ memories, owner, model: "m", path: "api/chat" })).toThrow("path");
  expect(() => chatHandler({ memories, owner: "ann", model: "m" } as never)).toThrow("owner");
});
