import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistant,
  createChatMemory,
  entry,
  inMemoryStore,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { stepsOf } from "../src/steps/live.ts";
import { formatWith, messages } from "./step-messages.ts";

describe.each([
  ["whole answers", false],
  ["answers in parts", true],
])("of %s", (_, answersInParts) => {
  const format = formatWith(answersInParts);
  const list = fc.array(fc.constantFrom(...messages), { minLength: 1, maxLength: 12 });

  test("removing a message takes the rest of its step with it, live or in history", async () => {
    const property = fc.asyncProperty(list, fc.nat(), fc.boolean(), async (all, choice, isShort) => {
      const window = isShort ? { maxMessages: 3 } : undefined;
      const store = inMemoryStore();
      const memory = createChatMemory({ id: "m", store, format, window });
      const ids = await memory.add(...all.map((message) => ({ ...message })));
      const target = choice % all.length;
      const given = all.map((message) => ({ ...message }));
      const step = stepsOf(given, format).find(({ items }) => items.some(({ seq }) => seq === target));
      const expected = (step?.items ?? []).map(({ seq }) => ids[seq] as string).sort();
      const { messages: evicted } = await memory.history({ states: ["evicted"] });
      const isEvicted = evicted.some(({ id }) => id === ids[target]);
      const { messages: records } = await store.getHistory("m", {});
      const removed = (await memory.remove(ids[target] as string)).sort();
      // A result that came late answers no call: the list alone does not say so.
      if (records.some(({ meta }) => meta?.includes('"late"'))) {
        expect(removed).toContain(ids[target]);
        return;
      }
      // What memory still holds may be grouped anew once others have left: then both go.
      if (isEvicted || !isShort) expect(removed).toEqual(expected);
      else expect(removed).toEqual(expect.arrayContaining(expected));
    });
    await fc.assert(property, { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 300) });
  });
});

test.each(["first part", "call", "result", "last part"])(
  "an answer in many parts leaves whole, by its %s",
  async (which) => {
    const format = formatWith(true);
    const memory = createChatMemory({ format, window: { maxMessages: 2 } });
    const parts = Array.from({ length: 450 }, (_, index) => assistant(String(index)));
    const answer = [
      entry(assistant("begins"), { id: "first part" }),
      ...parts,
      entry(toolCall("c", "look", {}), { id: "call" }),
      entry(assistant("ends"), { id: "last part" }),
      entry(toolResult("c", "look", "r"), { id: "result" }),
    ];
    await memory.add(user("before"), ...answer, user("after"), assistant("1"), user("2"));
    expect(await memory.remove(which)).toHaveLength(answer.length);
    const left = await memory.history();
    expect(left.messages.map(({ message }) => message.content)).toEqual(["before", "after", "1", "2"]);
  },
);

describe("removing only one message", () => {
  const call = entry(toolCall("c", "look", {}), { id: "call" });
  const result = entry(toolResult("c", "look", "r"), { id: "result" });

  test.each([
    ["live", undefined],
    ["evicted", { maxMessages: 1 }],
  ])("leaves the rest of its step, %s", async (_, window) => {
    const memory = createChatMemory({ window });
    await memory.add(user("before"), call, result, user("after"));
    expect(await memory.remove("result", { only: true })).toEqual(["result"]);
    const left = (await memory.history()).messages.map(({ message: { role } }) => role);
    expect(left).toEqual(["user", "assistant", "user"]);
  });

  test("shows the call without its result as interrupted, and no result without its call", async () => {
    const memory = createChatMemory();
    await memory.add(user("before"), call, result, user("after"));
    await memory.remove("result", { only: true });
    expect(JSON.stringify(await memory.messages())).toContain("interrupted");
    await memory.put("result", toolResult("c", "look", "r"));
    await memory.remove("call", { only: true });
    expect((await memory.messages()).map(({ role }) => role)).toEqual(["user", "user"]);
  });
});
