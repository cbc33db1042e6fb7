import { gate, until } from "@turnkeep/store-tests/gate";
import { isToolUIPart, tool, type UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { Chat, line } from "./browser.ts";
import { died, slowly, stored, storedLines, world } from "./chat-server.ts";
import { callsTool, type Part, says } from "./models.ts";

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

test.each([
  ["a list", ["x"]],
  ["a text", "x"],
  ["a number", 0],
] as const)("where %s is what the application says of a chat, no title is asked for", async (_what, data) => {
  const { server, failures } = world(says("Yes."), says("Yes."));
  const works: Promise<unknown>[] = [];
  const title = vi.fn(() => "Ours");
  const { memories, tab } = server({ title, waitUntil: (work) => works.push(work) });
  await memories.get("chat-1", { owner: "ann" }).update(data);
  const chat = tab();
  for (const text of ["1?", "2?"]) await chat.sendMessage({ text });
  await Promise.all(works);
  expect(title).not.toHaveBeenCalled();
  expect(await memories.get("chat-1").data()).toEqual(data);
  expect(failures).toEqual([]);
});

test("null says nothing of a chat: a title is kept in its place, the application's or the user's", async () => {
  const { server, failures } = world(says("Yes."));
  const works: Promise<unknown>[] = [];
  const { memories, tab, transport } = server({ title: () => "Ours", waitUntil: (work) => works.push(work) });
  const memory = memories.get("chat-1", { owner: "ann" });
  await memory.update(null);
  await tab().sendMessage({ text: "Hello" });
  await Promise.all(works);
  expect(await memory.data()).toEqual({ title: "Ours" });
  await memory.update(null);
  expect(await transport().updateChat("chat-1", { title: "Mine" })).toEqual({ id: "chat-1", title: "Mine" });
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
