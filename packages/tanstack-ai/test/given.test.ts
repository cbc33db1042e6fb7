import { type ChatMiddleware, modelMessagesToUIMessages, type UIMessage } from "@tanstack/ai";
import { isTurnkeepError } from "@turnkeep/core";
import { expect, it } from "vitest";
import {
  ask,
  both,
  calling,
  type Memories,
  memoriesOf,
  question,
  record,
  recorded,
  Scripted,
  saying,
  told,
  toolOf,
  worked,
  working,
} from "./chats.ts";

/** What `chat` is given, and what becomes of it. */

/** As a browser: it posts all that it shows. */
async function page(memories: Memories): Promise<UIMessage[]> {
  return modelMessagesToUIMessages(await record(memories));
}
const asking = (id: string, content: string): UIMessage => ({
  id,
  role: "user",
  parts: [{ type: "text", content }],
});

it("is stored once, though a browser posts all of it each time, and some has left the window", async () => {
  const memories = memoriesOf({ maxMessages: 3 });
  for (const id of ["q1", "q2", "q3"]) {
    await ask(memories, [...(await page(memories)), asking(id, "Again.")], {
      adapter: working(),
      tools: both,
    });
  }
  const turn = ["user: Again.", ...worked];
  expect(await recorded(memories)).toEqual([...turn, ...turn, ...turn]);
  expect((await page(memories)).map(({ role }) => role)).toContain("user");
});

it("may be the past as model messages without ids", async () => {
  const memories = memoriesOf();
  const past = [];
  for (const content of ["Hello", "Hello"]) {
    past.push(question(content));
    await ask(memories, past, { adapter: new Scripted(saying("Hi.")) });
    past.push({ role: "assistant" as const, content: "Hi." });
  }
  expect(await recorded(memories)).toEqual([
    "user: Hello",
    "assistant: Hi.",
    "user: Hello",
    "assistant: Hi.",
  ]);
});

it("may be a past that was kept elsewhere before", async () => {
  const memories = memoriesOf();
  const past = [
    question("Hello", "q1"),
    { role: "assistant" as const, content: "Hi." },
    question("Who?", "q2"),
  ];
  await ask(memories, past, { adapter: new Scripted(saying("I.")) });
  expect(await recorded(memories)).toEqual(["user: Hello", "assistant: Hi.", "user: Who?", "assistant: I."]);
});

it("shows what another device has said meanwhile", async () => {
  const memories = memoriesOf();
  await ask(memories, [asking("q1", "One?")], { adapter: new Scripted(saying("One.")) });
  const stale = await page(memories);
  await ask(memories, "Two?", { adapter: new Scripted(saying("Two.")) });
  const adapter = new Scripted(saying("Three."));
  await ask(memories, [...stale, asking("q3", "Three?")], { adapter });
  expect(adapter.prompts()).toEqual([
    ["user: One?", "assistant: One.", "user: Two?", "assistant: Two.", "user: Three?"],
  ]);
  expect(await recorded(memories)).toHaveLength(6);
});

it("asks again: an answer that is whole is taken back, one of another device's question is not", async () => {
  const memories = memoriesOf();
  const first = [asking("q1", "Which?")];
  await ask(memories, first, { adapter: new Scripted(saying("This.")) });
  const adapter = new Scripted(saying("That."), saying("Both."));
  const seen: string[][] = [];
  const looking: ChatMiddleware = { onFinish: ({ messages }) => void seen.push(messages.map(told)) };
  await ask(memories, first, { adapter, last: [looking] });
  expect(await recorded(memories)).toEqual(["user: Which?", "assistant: That."]);
  expect(seen).toEqual([["user: Which?", "assistant: That."]]);
  expect(adapter.prompts()).toEqual([["user: Which?"]]);
  await ask(memories, "Two?", { adapter: new Scripted(saying("Two.")), last: [looking] });
  expect(seen[1]).toEqual(["user: Which?", "assistant: That.", "user: Two?", "assistant: Two."]);
  await ask(memories, first, { adapter });
  expect(await recorded(memories)).toHaveLength(5);
});

it("asks in other words: the question under its id is edited, and what was answered is taken back", async () => {
  const memories = memoriesOf();
  const failing = new Scripted(calling("first"), { fails: new Error("away") });
  const asked = ask(memories, [asking("q1", "A fjrod?")], { adapter: failing, tools: both });
  await expect(asked).rejects.toThrow("away");
  const adapter = new Scripted(saying("A bay."));
  await ask(memories, [asking("q1", "A fjord?")], { adapter });
  expect(adapter.prompts()).toEqual([["user: A fjord?"]]);
  expect(await recorded(memories)).toEqual(["user: A fjord?", "assistant: A bay."]);
  // An older one stays where it stands, with its answer.
  const given = [asking("q1", "A sound?"), asking("q2", "Sure?")];
  await ask(memories, given, { adapter: new Scripted(saying("Yes.")) });
  const now = ["user: A sound?", "assistant: A bay.", "user: Sure?", "assistant: Yes."];
  expect(await recorded(memories)).toEqual(now);
});

it("does not bring back what was taken back elsewhere", async () => {
  const memories = memoriesOf();
  await ask(memories, [asking("q1", "One?")], { adapter: new Scripted(saying("One.")) });
  const stale = await page(memories);
  await memories.get("chat-1").rewind("q1");
  const again = await ask(memories, stale, { adapter: new Scripted() }).catch((error: unknown) => error);
  expect(isTurnkeepError(again, "NOT_FOUND")).toBe(true);
  const adapter = new Scripted(saying("Two."));
  await ask(memories, [asking("q1", "One, or two?"), asking("q2", "Two?")], { adapter });
  expect(adapter.prompts()).toEqual([["user: Two?"]]);
  expect(await recorded(memories)).toEqual(["user: Two?", "assistant: Two."]);
});

it("goes on with a run that failed, and does not run again what was done", async () => {
  const memories = memoriesOf();
  const failing = new Scripted(calling("first"), { fails: new Error("away") });
  const asked = [asking("q1", "Do it.")];
  await expect(ask(memories, asked, { adapter: failing, tools: both })).rejects.toThrow("away");
  let runs = 0;
  const adapter = new Scripted(saying("Done."));
  await ask(memories, asked, { adapter, tools: [toolOf("first", () => runs++)] });
  expect(runs).toBe(0);
  expect(await recorded(memories)).toEqual(["user: Do it.", ...worked.slice(0, 2), "assistant: Done."]);
});

it("is nothing: the run goes on, with the call that was left open; a new question leaves it", async () => {
  const left = async () => {
    const memories = memoriesOf();
    const dying = toolOf("second", () => new Promise(() => undefined));
    const abort = new AbortController();
    const run = ask(memories, "Do it.", {
      adapter: new Scripted(calling("first", "second")),
      tools: [toolOf("first"), dying],
      abortController: abort,
    });
    run.catch(() => undefined);
    while ((await recorded(memories)).length < 3) await new Promise(setImmediate);
    return memories;
  };
  const going = await left();
  const adapter = new Scripted(saying("Done."));
  await ask(going, [], { adapter, tools: both });
  expect(adapter.prompts()).toEqual([
    ["user: Do it.", "assistant: [first][second]", "(first done)", "(second done)"],
  ]);
  const asked = await left();
  const other = new Scripted(saying("Sorry."));
  let runs = 0;
  await ask(asked, "Well?", {
    adapter: other,
    tools: [...both.slice(0, 1), toolOf("second", () => runs++)],
  });
  expect(runs).toBe(0);
  expect(other.prompts()[0]?.[3]).toMatch(/interrupted/);
  expect(await recorded(asked)).not.toContain(other.prompts()[0]?.[3]);
});

it("is nothing, and nothing is left to do: the run is refused, so that no answer is doubled", async () => {
  const memories = memoriesOf();
  const failing = new Scripted({ text: "One, ", fails: new Error("away") });
  await expect(ask(memories, "Count.", { adapter: failing })).rejects.toThrow("away");
  // What was cut off goes on, once.
  await ask(memories, [], { adapter: new Scripted(saying("two.")) });
  const said = ["user: Count.", "assistant: One, ", "assistant: two."];
  expect(await recorded(memories)).toEqual(said);
  for (const given of [[], await record(memories), await page(memories)]) {
    const adapter = new Scripted();
    const again = await ask(memories, given, { adapter }).catch((error: unknown) => error);
    expect(isTurnkeepError(again, "INVALID_OPTION")).toBe(true);
    expect(again).toMatchObject({ message: expect.stringContaining('"chat-1" is answered') });
    expect(adapter.requests).toEqual([]);
  }
  expect(await recorded(memories)).toEqual(said);
  await ask(memories, "Go on.", { adapter: new Scripted(saying("Three.")) });
  expect(await recorded(memories)).toHaveLength(5);
});

it("has calls with the ids of earlier turns: each result is of its own call", async () => {
  const memories = memoriesOf();
  let runs = 0;
  const tools = [toolOf("first", () => `run ${++runs}`)];
  for (const id of ["q1", "q2", "q3"]) {
    const adapter = new Scripted({ calls: [["first", "call_0"]] }, saying(id));
    await ask(memories, [...(await page(memories)), asking(id, id)], { adapter, tools });
    expect(adapter.prompts().at(-1)?.at(-1)).toBe(`(run ${runs})`);
  }
  const turn = (n: number) => [`user: q${n}`, "assistant: [first]", `(run ${n})`, `assistant: q${n}`];
  expect(await recorded(memories)).toEqual([1, 2, 3].flatMap(turn));
});

it.each(["", "x".repeat(257), "\ud800", "a\0b", 7])(
  "is refused if a question's id names nothing (%j): nothing is asked and stored",
  async (id) => {
    const memories = memoriesOf();
    const adapter = new Scripted();
    const given = [question("Hello", "q1"), question("Well?", id as string)];
    const asked = await ask(memories, given, { adapter }).catch((error: unknown) => error);
    expect(isTurnkeepError(asked, "INVALID_OPTION")).toBe(true);
    expect(asked).toMatchObject({ message: expect.stringContaining("The id of a question given to chat") });
    expect(adapter.requests).toEqual([]);
    expect(await recorded(memories)).toEqual([]);
  },
);
