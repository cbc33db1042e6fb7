import { createEvent, createEventActions, type Event, ToolConfirmation } from "@google/adk";
import { checkFormat } from "@turnkeep/conformance";
import { createChatMemory, isTurnkeepError } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { adkFormat } from "../src/index.ts";
import { saying } from "./world.ts";

const again = (event: Event): Event => adkFormat.decode(adkFormat.encode(event));

function holding(role: string, ...parts: object[]): Event {
  return createEvent({ author: role === "user" ? "user" : "helper", content: { role, parts }, timestamp: 7 });
}

const samples: Record<string, Event> = {
  question: saying("Hello"),
  answer: saying("Hello, Ann.", "helper", { usageMetadata: { promptTokenCount: 3 }, turnComplete: true }),
  thought: holding("model", { text: "Hm.", thought: true, thoughtSignature: "c2ln" }, { text: "Yes." }),
  calls: {
    ...holding("model", ...["1", "2"].map((id) => ({ functionCall: { id, name: "pay", args: { sum: 5 } } }))),
    longRunningToolIds: ["2"],
  },
  result: holding("user", { functionResponse: { id: "1", name: "pay", response: { result: "paid" } } }),
  image: holding("user", { inlineData: { mimeType: "image/png", data: "AAAA" } }, { text: "What is it?" }),
  state: createEvent({ author: "helper", actions: createEventActions({ stateDelta: { city: "Oslo" } }) }),
  silent: createEvent({ author: "helper", content: { role: "model", parts: [] } }),
  compacted: createEvent({
    author: "system",
    ...{ isCompacted: true, startTime: 1, endTime: 2, compactedContent: "Ann is in Oslo." },
  }),
  branch: saying("Aside.", "helper", { branch: "a.b", isolationScope: "s", output: { n: 1 }, route: ["x"] }),
};

it("keeps what a format promises", () => {
  checkFormat(adkFormat, Object.values(samples));
});

describe.each(Object.entries(samples))("%s", (_, event) => {
  it("comes back as an event, to the last member", () => {
    expect(again(event)).toEqual(event);
    expect(Object.getOwnPropertySymbols(again(event))).toEqual(Object.getOwnPropertySymbols(event));
  });
});

it("knows who speaks", () => {
  expect(Object.entries(samples).map(([name, event]) => [name, adkFormat.role(event)])).toEqual([
    ["question", "user"],
    ["answer", "assistant"],
    ["thought", "assistant"],
    ["calls", "assistant"],
    ["result", "tool"],
    ["image", "user"],
    ["state", "assistant"],
    ["silent", "assistant"],
    ["compacted", "user"],
    ["branch", "assistant"],
  ]);
});

it("keeps an object of a class as JSON would, and no time but its own", () => {
  const confirmation = new ToolConfirmation({ hint: "Sure?", confirmed: false });
  const actions = createEventActions({ requestedToolConfirmations: { one: confirmation } });
  const given = { ...createEvent({ actions }), timestamp: 0 };
  const event = again(given);
  expect(adkFormat.equals(event, given)).toBe(true);
  expect(event.actions.requestedToolConfirmations).toEqual({ one: { hint: "Sure?", confirmed: false } });
  expect(event.timestamp).toBe(0);
});

it("joins what one author says to the same agents", () => {
  const join = adkFormat.joined as NonNullable<typeof adkFormat.joined>;
  const [one, two] = [saying("One."), saying("Two.")];
  expect(join(one, two)?.content?.parts).toEqual([{ text: "One." }, { text: "Two." }]);
  expect(join(one, saying("Two.", "user", { branch: "b" }))).toBeUndefined();
  expect(join(one, saying("Two.", "helper"))).toBeUndefined();
  expect(join(one, samples.state as Event)).toBeUndefined();
  expect(join(one, samples.compacted as Event)).toBeUndefined();
});

it("answers a call that nobody answered in a memory that repairs", async () => {
  const memory = createChatMemory({ format: adkFormat });
  await memory.add(saying("Pay."), samples.calls as Event, saying("Go on."));
  const shown = await memory.messages();
  expect(shown.map((event) => adkFormat.toolResults(event).map(({ id }) => id))).toEqual([
    [],
    [],
    ["1", "2"],
    [],
  ]);
  expect(shown).toEqual(await memory.messages());
});

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

it.each([
  ["no event", "Hello", "is a string"],
  ["no id", { content: { parts: [] } }, "as id"],
  ["content", { id: "1", content: "Hello" }, "as content"],
  ["a role", { id: "1", content: { role: "system", parts: [{ text: "Be brief." }] } }, "role"],
  ["parts", { id: "1", content: { parts: "Hello" } }, "content.parts"],
  ["a part", { id: "1", content: { parts: ["Hello"] } }, "parts[0]"],
  ["a name", { id: "1", content: { parts: [{}, { functionCall: {} }] } }, "functionCall"],
  ["a summary", { id: "1", isCompacted: true }, "compactedContent"],
  ["an end", { id: "1", actions: cyclic }, "JSON"],
])("refuses an event without %s", (_, event, says) => {
  const error = (() => {
    try {
      adkFormat.encode(event as never);
    } catch (error) {
      return error;
    }
  })();
  expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
  expect(String(error)).toContain(says);
});
