import { gate, until } from "@turnkeep/store-tests/gate";
import type { UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import type { TurnkeepChatTransport } from "../src/client.ts";
import { Chat } from "./browser.ts";
import { approvalIn, booking, settled, slowly, statusOf, storedLines, world } from "./chat-server.ts";
import { callsTool, says } from "./models.ts";

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

test.each([false, true])(
  "a tab that has deleted its newest message can edit an older one, unless another has gone on: %s",
  async (hasGoneOn) => {
    const { server, failures } = world(says("One."), says("Two."), says("Three."));
    const { memories, tab, transport } = server();
    const other = tab();
    for (const text of ["1?", "2?"]) await other.sendMessage({ text });
    const own = transport();
    const { messages } = await own.history("chat-1");
    const chat = new Chat({ id: "chat-1", messages, transport: own });
    if (hasGoneOn) await other.sendMessage({ text: "3?" });
    await own.deleteMessage("chat-1", messages[3]?.id as string);
    await chat.sendMessage({ text: "One?", messageId: messages[0]?.id as string });
    expect(chat.error).toEqual(hasGoneOn ? expect.objectContaining({ statusCode: 409 }) : undefined);
    const gone = ["user: 1?", "assistant: One.", "user: 2?", "user: 3?", "assistant: Three."];
    expect(await storedLines(memories)).toEqual(hasGoneOn ? gone : ["user: One?", "assistant: Three."]);
    expect(failures).toEqual([]);
  },
);

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
