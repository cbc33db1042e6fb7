import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import type { UIMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, test } from "vitest";
import { mockModel } from "../src/mock-model.ts";
import { chatRoute } from "../src/route.ts";

function setUp(answers: MockLanguageModelV4["doStream"]) {
  const memories = createChatMemories<UIMessage>({
    store: inMemoryStore(),
    format: uiMessageFormat<UIMessage>(),
  });
  const route = chatRoute(memories, new MockLanguageModelV4({ doStream: answers }));
  const post = async (
    id: string,
    text: string,
    messageId?: string,
    trigger = "submit-message",
  ): Promise<string> => {
    const message: UIMessage = { id, role: "user", parts: [{ type: "text", text }] };
    const body = JSON.stringify({ id: "ann/1", message, trigger, messageId });
    return (await route(new Request("http://localhost/", { method: "POST", body }))).text();
  };
  const shown = async (): Promise<string[]> =>
    (await memories.get("ann/1").messages()).map(
      ({ role, parts }) =>
        `${role}: ${parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join()}`,
    );
  return { memories, route, post, shown };
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

test("a question that is sent twice stands once, with the newer answer", async () => {
  const { post, shown } = setUp(doStream);
  await post("q-1", "Hello");
  const [, first] = await shown();
  await post("q-1", "Hello");
  expect(await shown()).toEqual(["user: Hello", expect.stringContaining("assistant: Where")]);
  expect(await shown()).not.toContain(first);
});

test("only calls that wait for the user are carried out, and once", async () => {
  const { memories, route, post } = setUp(doStream);
  const booked = async (): Promise<number> => {
    const found = (await memories.get("ann/1").messages()).flatMap(({ parts }) => parts);
    return found.filter((part) => "state" in part && part.state === "output-available").length;
  };
  const approve = async (message: object): Promise<string> => {
    const body = JSON.stringify({ id: "ann/1", message, trigger: "submit-message" });
    return (await route(new Request("http://localhost/", { method: "POST", body }))).text();
  };
  await post("q-1", "Book a train to Oslo");
  const asked = (await memories.get("ann/1").messages()).at(-1) as UIMessage;
  const said = (more: object) => ({
    ...asked,
    parts: asked.parts.map((part) =>
      "approval" in part
        ? { ...part, state: "approval-responded", approval: { ...part.approval, approved: true }, ...more }
        : part,
    ),
  });
  await expect(approve(said({ approval: { id: "made up", approved: true } }))).rejects.toThrow(
    "No call waits",
  );
  await approve(said({ input: { city: "Rome" } }));
  expect(await booked()).toBe(1);
  const text = JSON.stringify(await memories.get("ann/1").messages());
  expect(text).toContain("to Oslo is booked");
  expect(text).not.toContain("Rome");
  await expect(approve(said({}))).rejects.toThrow("No call waits");
});

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
