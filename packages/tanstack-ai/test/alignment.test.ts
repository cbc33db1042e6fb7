import type { ModelMessage } from "@tanstack/ai";
import { expect, it } from "vitest";
import { align } from "../src/middleware/alignment.ts";
import type { Recorded } from "../src/middleware/record.ts";
import { question, told } from "./chats.ts";

const say = (content: string, id?: string): ModelMessage => ({
  role: "assistant",
  content,
  ...(id === undefined ? {} : { id }),
});
const call = (...ids: string[]): ModelMessage => ({
  ...say(""),
  toolCalls: ids.map((id) => ({ id, type: "function", function: { name: id, arguments: "{}" } })),
});
const result = (toolCallId: string, content = "done"): ModelMessage => ({
  role: "tool",
  toolCallId,
  content,
});

function recordOf(messages: readonly ModelMessage[], takenBack: readonly ModelMessage[] = []): Recorded[] {
  return [...messages, ...takenBack].map((message, at) => {
    const state = takenBack.includes(message) ? "superseded" : "live";
    return { id: `m${at}`, seq: at + 1, createdAt: 0, state, message };
  });
}

const added = (given: readonly ModelMessage[], record: readonly Recorded[]): string[] =>
  align(given, record).added.map(told);

it("adds everything to an empty record, and a question without an id each time", () => {
  expect(added([say("Welcome."), question("Hi")], [])).toEqual(["assistant: Welcome.", "user: Hi"]);
  expect(added([question("Hi")], recordOf([question("Hi"), say("Hello.")]))).toEqual(["user: Hi"]);
});

it("knows a message by its id or its calls, in whatever words", () => {
  const record = recordOf([question("Hi", "q1"), call("c1"), result("c1", "long"), say("Whole.", "a1")]);
  const given = [question("Ho", "q1"), { ...call("c1"), id: "x" }, result("c1", "short"), say("Who", "a1")];
  expect(added([...given, question("And?", "q2")], record)).toEqual(["user: And?"]);
  expect(added([question("Hi", "q3"), question("Ho", "q4")], record)).toEqual(["user: Hi", "user: Ho"]);
});

it("knows a past without ids in the order in which it was said", () => {
  const said = [question("Hi"), say("Hello."), question("Hi"), say("Again?")];
  expect(added([...said, question("Hi")], recordOf(said))).toEqual(["user: Hi"]);
  expect(added([...said.slice(0, 2), say("Again?"), say("Hello.")], recordOf(said))).toEqual([
    "assistant: Hello.",
  ]);
});

it("leaves out what stands in place of others", () => {
  const record = recordOf([question("One", "q1"), say("1", "a1"), question("Two", "q2")]);
  expect(added([say("They spoke of one."), question("Two", "q2")], record)).toEqual([]);
});

it("adds the late result of a call that it knows, wherever it stands", () => {
  const record = recordOf([question("Go", "q1"), call("c1", "c2"), result("c1"), say("Well.", "a1")]);
  const given = [question("Go", "q1"), call("c1", "c2"), result("c1"), result("c2"), say("Well.", "a1")];
  expect(added([...given.slice(0, 1), result("other"), ...given.slice(1)], record)).toEqual(["(done)"]);
});

it("adds nothing again that was taken back, but what is said in the same words", () => {
  const record = recordOf([question("One", "q1")], [say("1"), question("Two", "q2")]);
  expect(added([question("One", "q1"), question("Two", "q2")], record)).toEqual([]);
  expect(added([question("One", "q1"), say("1")], record)).toEqual(["assistant: 1"]);
});
