import { expect, test } from "vitest";
import { createChatMemories, createChatMemory, entry, inMemoryStore, user } from "../src/index.ts";

const memory = createChatMemory();

/** What the types forbid, and JavaScript does not. */
test.each<[string, (wrong: never) => unknown, unknown, RegExp]>([
  ["options", createChatMemory, "chat-1", /createChatMemory's argument .*"chat-1"/],
  ["options of many memories", createChatMemories, "chat-1", /createChatMemories .*/],
  ["entry's options", (options) => entry(user("a"), options), undefined, /entry .*undefined/],
  ["extra messages", (extra) => memory.messages({ extra }), user("a"), /^extra .*an object/],
  ["extra messages to explain", (extra) => memory.explain({ extra }), user("a"), /^extra .*an object/],
  ["a signal of a view", (signal) => memory.messages({ signal }), 5, /^signal .*5/],
  ["a signal of a change", (signal) => memory.put("a", user("a"), { signal }), {}, /^signal .*an object/],
  ["a transaction's function", (run) => memory.transaction(run), 5, /^transaction's .*5/],
  [
    "what a transaction does on a conflict",
    (onConflict) => memory.transaction(() => 1, { onConflict }),
    "retry",
    /^onConflict .*merge or throw.*"retry"/,
  ],
  [
    "a window that limits nothing",
    (window) => createChatMemory({ window }),
    { maxMessage: 3 },
    /it has maxMessage\./,
  ],
  ["a window of nothing", (window) => createChatMemory({ window }), {}, /it has nothing\./],
])("wrong %s: INVALID_OPTION that says what it is", async (_, call, wrong, says) => {
  const outcome = (async () => call(wrong as never))();
  await expect(outcome).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringMatching(says),
  });
});

test("where a compaction cannot end is told, with the message's id", async () => {
  const own = createChatMemory({ store: inMemoryStore(), id: "m" });
  const [first] = await own.add(user("a"), user("b"));
  const summary = await own.compact({ through: first as string, replacement: user("a, in short") });
  const again = own.compact({ through: summary, replacement: user("shorter") });
  await expect(again).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringContaining("is not where compact can end"),
    details: { messageIds: [summary] },
  });
});
