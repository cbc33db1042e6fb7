import { expect, test } from "vitest";
import { createChatMemories, createChatMemory, entry, inMemoryStore, user } from "../src/index.ts";
import { applyProcessors } from "../src/processors.ts";
import { quoted, show, wrongOption } from "../src/store-kit.ts";

/** What a terminal, a log or an editor would act on. */
const acting = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const odd = 'a\n\u001b[2J\u009b\u202e\u2066\u2028\u2029\u0085\u007f"b';

test("a text is quoted on one line, without what a terminal acts on, and can be read back", () => {
  expect(quoted(odd)).not.toMatch(acting);
  expect(JSON.parse(quoted(odd))).toBe(odd);
  expect(quoted("plain é 日本 🙂")).toBe('"plain é 日本 🙂"');
  for (const value of [odd, odd.repeat(50), Symbol(odd)]) expect(show(value)).not.toMatch(acting);
});

test.each<[string, () => unknown]>([
  ["an option's value", () => wrongOption("order", odd, "another")],
  ["an option that is none", () => createChatMemory({ [odd]: 1 } as never)],
  ["a symbol", () => createChatMemory({ window: { maxMessages: 1, unit: Symbol(odd) } } as never)],
  ["a memory's id", () => memoryOf().compact({ through: "x", replacement: user("y") })],
  ["a message's id", () => memoryOf().rewind(odd)],
  [
    "an id of two messages",
    () => memoryOf().add(entry(user("1"), { id: odd }), entry(user("2"), { id: odd })),
  ],
  ["a message in memory", () => memoryOf().put(odd, user("1"), { mustExist: true })],
  ["a fork's source", () => createChatMemories({ store: inMemoryStore() }).fork(odd, "b")],
  [
    "a processor's name",
    () => applyProcessors([user("1")], [{ name: odd, process: () => undefined as never }]),
  ],
])("an error that names %s keeps to that", async (_, run) => {
  const error = await Promise.resolve()
    .then(run)
    .catch((thrown: unknown) => thrown);
  const { message } = error as Error;
  expect(message).toContain("\\u009b");
  expect(message).not.toMatch(acting);
});

function memoryOf() {
  return createChatMemory({ id: odd, store: inMemoryStore() });
}
