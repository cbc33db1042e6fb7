import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { expect, it } from "vitest";
import { align, type Recorded } from "../src/middleware/alignment.ts";

const human = (content: string, id?: string) =>
  new HumanMessage({ content, ...(id === undefined ? {} : { id }) });
const ai = (content: string, id?: string) => new AIMessage({ content, ...(id === undefined ? {} : { id }) });

const recordOf = (...messages: BaseMessage[]): Recorded[] =>
  messages.map((message, seq) => ({ id: `stored-${seq}`, seq, createdAt: 0, state: "live", message }));

const addedOf = (messages: BaseMessage[], record: Recorded[], storedIds = new Map<BaseMessage, string>()) =>
  align(messages, record, (message) => storedIds.get(message)).added.map(({ content }) => content);

it("adds all to an empty record", () => {
  expect(addedOf([human("One"), ai("Two")], [])).toEqual(["One", "Two"]);
});

it("goes by ids, and by the newest of those that share one", () => {
  const record = recordOf(ai("Old", "0"), human("One", "h-1"), ai("Two", "0"));
  const answer = ai("Two, changed", "0");
  const { known, added } = align(
    [human("One", "h-1"), answer, human("Three", "h-2")],
    record,
    () => undefined,
  );
  expect(known.get(answer)?.id).toBe("stored-2");
  expect(added.map(({ content }) => content)).toEqual(["Three"]);
});

it("goes by the questions where nobody gave ids, whatever a client shows of the answers", () => {
  const call = new AIMessage({
    content: "",
    tool_calls: [{ id: "1", name: "one", args: {}, type: "tool_call" }],
  });
  const result = new ToolMessage({ content: "4", tool_call_id: "1" });
  const record = recordOf(
    human("One", "a"),
    call,
    result,
    ai("Two", "b"),
    human("Three", "c"),
    ai("Four", "d"),
  );
  const past = [human("One"), ai("Two"), human("Three"), ai("Four")];
  expect(addedOf([...past, human("Five")], record)).toEqual(["Five"]);
  expect(addedOf(past, record)).toEqual([]);
  // A client that keeps the newest alone, and one that begins with what the record did not go back to.
  expect(addedOf([...past.slice(2), human("Five")], record)).toEqual(["Five"]);
  expect(addedOf([...past, human("Five")], record.slice(4))).toEqual(["One", "Two", "Three", "Four", "Five"]);
});

it("takes no question twice that two clients share, each with a past of its own", () => {
  const record = recordOf(human("One"), ai("1"), human("Two"), ai("2"), human("Three"), ai("3"));
  const past = [human("One"), ai("1"), human("Two"), ai("2")];
  expect(addedOf([...past, human("Four")], record)).toEqual(["Four"]);
  expect(addedOf([...past.slice(2), human("Four"), ai("4"), human("One")], record)).toEqual([
    "Four",
    "4",
    "One",
  ]);
  // One that ends the input is asked, though it was asked before; one that was never asked begins what is new.
  expect(addedOf(past.slice(0, 3), record)).toEqual(["Two"]);
  expect(addedOf([human("Zero"), ...past], record)).toEqual(["Zero", "One", "1", "Two", "2"]);
  const reversed = [...past.slice(2), ...past.slice(0, 2), human("Four")];
  expect(addedOf(reversed, record)).toEqual(["One", "1", "Four"]);
});

it("goes on by questions behind what is known", () => {
  const known = human("One", "a");
  const record = recordOf(known, ai("Two"), human("Three"), ai("Four"), human("Three"));
  expect(addedOf([known, ai("Two"), human("Three"), ai("Four"), human("Five")], record)).toEqual(["Five"]);
  expect(addedOf([human("Three"), known, human("Three")], record.slice(0, 1))).toEqual(["Three"]);
});

it("takes a question that is asked again for a new one, and a system message is added in any case", () => {
  const record = recordOf(human("Go on", "a"), ai("One", "b"), human("Go on", "c"), ai("Two", "d"));
  const past = [human("Go on"), ai("One"), human("Go on"), ai("Two")];
  expect(addedOf([...past, human("Go on")], record)).toEqual(["Go on"]);
  expect(addedOf([new SystemMessage("Be kind."), ...past, human("Go on")], record)).toEqual([
    "Be kind.",
    "Go on",
  ]);
});

it("leaves out what another middleware put before what is known", () => {
  const question = human("Three", "c");
  expect(
    addedOf([human("A summary", "s"), question, ai("Four", "d")], [], new Map([[question, "stored-9"]])),
  ).toEqual(["Four"]);
});

it("adds the result of a known call that has none, though the result of another call is there", () => {
  const question = human("Go", "q");
  const answer = new AIMessage({
    id: "a",
    content: "",
    tool_calls: ["1", "2"].map((id) => ({ id, name: "one", args: {}, type: "tool_call" })),
  });
  const resultOf = (call: string) => new ToolMessage({ content: `of ${call}`, tool_call_id: call });
  const [first, second] = [resultOf("1"), resultOf("2")];
  const record = recordOf(question, answer, second);
  const storedIds = new Map([[second, "stored-2"]]);
  const state = [question, answer, first, second];
  expect(addedOf(state, record, storedIds)).toEqual(["of 1"]);
  expect(addedOf(state, recordOf(question, answer, second, resultOf("1")), storedIds)).toEqual([]);
  const takenBack = record.map((recorded) => ({ ...recorded, state: "superseded" as const }));
  expect(addedOf(state, takenBack, storedIds)).toEqual([]);
});

it("compares each message once, also where all are the same", () => {
  const many = Array.from({ length: 4_000 }, () => human("yes"));
  let compared = 0;
  for (const message of many) {
    Object.defineProperty(message, "content", { get: () => "yes".slice(0, 3 + 0 * compared++) });
  }
  expect(addedOf([...many.slice(0, 2_000), human("no")], recordOf(...many))).toEqual(["no"]);
  expect(compared).toBeLessThan(4 * many.length);
});
