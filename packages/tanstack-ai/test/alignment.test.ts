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

it("tells the calls of one turn from those of another that have the same ids", () => {
  const turn = (name: string): ModelMessage[] => [question(name, name), call("c"), result("c", `of ${name}`)];
  const [one, two] = [turn("q1"), turn("q2")];
  // The browser's tool of the second turn has its result.
  const waiting = recordOf([...one, say("1", "a1"), ...two.slice(0, 2)]);
  expect(added([...one, say("1", "a1"), ...two], waiting)).toEqual(["(of q2)"]);
  expect(added(two, waiting)).toEqual(["(of q2)"]);
  expect(added(two.slice(2), waiting)).toEqual(["(of q2)"]);
  // Nothing new, or all of a turn.
  const whole = recordOf([...one, say("1", "a1"), ...two]);
  expect(added([...one, say("1", "a1"), ...two], whole)).toEqual([]);
  expect(added([...one, ...two, ...turn("q3")], whole)).toEqual(["user: q3", "assistant: [c]", "(of q3)"]);
  expect(added([call("c"), result("c", "late")], recordOf([question("q1", "q1"), call("c")]))).toEqual([
    "(late)",
  ]);
  // Another answer to the same question, where the one before had a result.
  const [asked, ...answer] = one;
  const again = recordOf([asked as ModelMessage, call("c")], answer);
  const anew = [...again.slice(0, 1), ...again.slice(2), ...again.slice(1, 2)];
  expect(added(one, anew)).toEqual(["(of q1)"]);
});

it("knows calls of the same ids by their messages, in whatever order they are given", () => {
  const calls = (id: string): ModelMessage => ({ ...call("c"), id });
  const record = recordOf([
    question("q1", "q1"),
    calls("a1"),
    result("c"),
    question("q2", "q2"),
    calls("a2"),
  ]);
  expect(added([calls("a2"), result("c", "of a2")], record)).toEqual(["(of a2)"]);
  expect(added([calls("a1"), result("c")], record)).toEqual([]);
});
