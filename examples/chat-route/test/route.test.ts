import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { isToolUIPart, type UIMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, test } from "vitest";
import { mockModel } from "../src/mock-model.ts";
import { chatRoute } from "../src/route.ts";

function setUp(answers: MockLanguageModelV4["doStream"], store = inMemoryStore()) {
  const memories = createChatMemories<UIMessage>({
    store,
    format: uiMessageFormat<UIMessage>(),
  });
  const model = new MockLanguageModelV4({ doStream: answers });
  const route = chatRoute(memories, model, ({ headers }) => headers.get("user") ?? "ann");
  const send = async (
    message: UIMessage,
    trigger = "submit-message",
    messageId?: string,
  ): Promise<string> => {
    const body = JSON.stringify({ id: "chat-1", message, trigger, messageId });
    return (await route(new Request("http://localhost/", { method: "POST", body }))).text();
  };
  const post = (id: string, text: string, messageId?: string, trigger?: string): Promise<string> =>
    send({ id, role: "user", parts: [{ type: "text", text }] }, trigger, messageId);
  const shown = async (): Promise<string[]> =>
    (await memories.get("chat-1").messages()).map(
      ({ role, parts }) =>
        `${role}: ${parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join()}`,
    );
  return { memories, model, route, send, post, shown };
}

const { doStream } = mockModel() as MockLanguageModelV4;

test("an answer that comes when its question was edited is not kept", async () => {
  let answer: (() => void) | undefined;
  let asked = 0;
  const { post, shown } = setUp(async (options) => {
    if (++asked === 1) await new Promise<void>((resolve) => (answer = resolve));
    return doStream(options);
  });
  const first = post("q-1", "Hello");
  await expect.poll(() => answer).toBeDefined();
  await post("q-1", "Good morning", "q-1");
  answer?.();
  expect(await first).toContain("Where do you want to go?");
  expect(await shown()).toEqual(["user: Good morning", expect.stringContaining("assistant: Where")]);
});

test("a chat of somebody else is not there: it is neither changed nor shown to the model", async () => {
  const { post, route, shown, model } = setUp(doStream);
  await post("q-1", "Hello");
  const before = await shown();
  const message = { id: "q-2", role: "user", parts: [{ type: "text", text: "What did Ann say?" }] };
  for (const trigger of ["submit-message", "regenerate-message"]) {
    const body = JSON.stringify({ id: "chat-1", message, trigger });
    const request = new Request("http://localhost/", { method: "POST", body, headers: { user: "bob" } });
    const response = await route(request);
    expect([response.status, await response.text()]).toEqual([404, "No such chat."]);
  }
  expect(await shown()).toEqual(before);
  expect(model.doStreamCalls).toHaveLength(1);
});

test("a question that is sent twice stands once, with the newer answer", async () => {
  const { post, shown } = setUp(doStream);
  await post("q-1", "Hello");
  const [, first] = await shown();
  await post("q-1", "Hello");
  expect(await shown()).toEqual(["user: Hello", expect.stringContaining("assistant: Where")]);
  expect(await shown()).not.toContain(first);
});

/** A question whose calls wait for the user, and two processes that know of each other by the store alone. */
async function asking(question: string, goesOn?: Promise<void>) {
  const store = inMemoryStore();
  const requests: string[] = [];
  const model: MockLanguageModelV4["doStream"] = async (options) => {
    requests.push(JSON.stringify(options.prompt));
    if (requests.length > 1) await goesOn;
    return doStream(options);
  };
  const [one, other] = [setUp(model, store), setUp(model, store)];
  await one.post("q-1", question);
  const answer = async (): Promise<UIMessage> =>
    (await one.memories.get("chat-1").messages()).at(-1) as UIMessage;
  const asked = await answer();
  /** The answer as the browser sends it back, with what the user says to its calls. */
  const decided = (approved: boolean, calls = Number.POSITIVE_INFINITY): UIMessage => ({
    ...asked,
    parts: asked.parts.map((part) =>
      isToolUIPart(part) && part.approval !== undefined && calls-- > 0
        ? ({ ...part, state: "approval-responded", approval: { ...part.approval, approved } } as typeof part)
        : part,
    ),
  });
  return { store, one, other, requests, answer, decided };
}

const statesOf = ({ parts }: UIMessage): string[] =>
  parts.flatMap((part) => (isToolUIPart(part) ? [part.state] : []));

test("only calls that wait for the user are carried out, and once", async () => {
  const { one, answer, decided } = await asking("Book a train to Oslo");
  const approved = decided(true);
  const changed = (more: object): UIMessage => ({
    ...approved,
    parts: approved.parts.map((part) => (isToolUIPart(part) ? ({ ...part, ...more } as typeof part) : part)),
  });
  const madeUp = changed({ approval: { id: "made up", approved: true } });
  await expect(one.send(madeUp)).rejects.toThrow("No call waits");
  await one.send(changed({ input: { city: "Rome" } }));
  expect(statesOf(await answer())).toEqual(["output-available"]);
  const text = JSON.stringify(await answer());
  expect(text).toContain("to Oslo is booked");
  expect(text).not.toContain("Rome");
  await expect(one.send(approved)).rejects.toThrow("No call waits");
});

test.each([
  ["one process", true, "output-available"],
  ["one process", false, "output-denied"],
  ["two processes", true, "output-available"],
  ["two processes", false, "output-denied"],
])("of two posts that decide at once, in %s, only one goes on (%s)", async (where, second, state) => {
  const { one, other, requests, answer, decided } = await asking("Book a train to Oslo");
  const posts = [one.send(decided(true)), (where === "one process" ? one : other).send(decided(second))];
  const ends = await Promise.allSettled(posts);
  expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(requests).toHaveLength(2);
  expect(statesOf(await answer())).toEqual([ends[0]?.status === "fulfilled" ? "output-available" : state]);
});

test("calls of one answer are decided together, so that none is carried out again beside the next", async () => {
  const { one, requests, answer, decided } = await asking("Book a train to Oslo and to Rome");
  await expect(one.send(decided(true, 1))).rejects.toThrow("No call waits");
  expect(statesOf(await answer())).toEqual(["approval-requested", "approval-requested"]);
  expect(requests).toHaveLength(1);
  await one.send(decided(true));
  expect(statesOf(await answer())).toEqual(["output-available", "output-available"]);
});

test("no other post carries out a call again that was approved", async () => {
  let goOn = (): void => {};
  const { one, other, requests, answer, decided } = await asking(
    "Book a train to Oslo",
    new Promise((resolve) => {
      goOn = resolve;
    }),
  );
  const approved = decided(true);
  const first = one.send(approved);
  // The call has its result, which is not stored yet.
  await expect.poll(() => requests).toHaveLength(2);
  await expect(other.send(approved, "regenerate-message")).rejects.toThrow("No call waits");
  expect(requests).toHaveLength(2);
  goOn();
  await first;
  expect(statesOf(await answer())).toEqual(["output-available"]);
});

test.each(["before", "meanwhile"])(
  "an approval carries out nothing if the user has said something else %s",
  async (when) => {
    const { store, one, other, requests, decided } = await asking("Book a train to Oslo");
    const say = (): Promise<unknown> =>
      other.memories.get("chat-1").add({ id: "q-2", role: "user", parts: [{ type: "text", text: "Wait!" }] });
    const update = store.updateMessages.bind(store);
    if (when === "before") await say();
    else {
      store.updateMessages = async (...args) => {
        store.updateMessages = update;
        await update(...args);
        await say();
      };
    }
    await expect(one.send(decided(true))).rejects.toThrow("has gone on");
    expect(requests).toHaveLength(1);
  },
);

// As `regenerate()` of `useChat` asks where the last message is a question: a Retry button after a request that failed.
test.each([
  ["that has not arrived", "q-2", "And you?", undefined],
  ["that has arrived as it was before an edit", "q-1", "And you?", "q-1"],
])("a question %s is taken in when it is asked for again", async (_, id, text, arrived) => {
  const { post, shown } = setUp(doStream);
  await post("q-1", "Hello");
  await post(id, text, undefined, "regenerate-message");
  const kept = arrived === undefined ? ["user: Hello", expect.stringContaining("assistant: Where")] : [];
  expect(await shown()).toEqual([...kept, `user: ${text}`, expect.stringContaining("assistant: Where")]);
});

test("another answer may be asked for by the question's id", async () => {
  const { post, shown } = setUp(doStream);
  await post("q-1", "Hello");
  await post("q-2", "And you?");
  const before = await shown();
  await post("q-2", "And you?", "q-2", "regenerate-message");
  const after = await shown();
  expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
  expect(after).toHaveLength(4);
  expect(after.at(-1)).not.toBe(before.at(-1));
});
