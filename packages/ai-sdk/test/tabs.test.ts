import { gate } from "@turnkeep/store-tests/gate";
import { expect, test } from "vitest";
import { chatTransport } from "../src/client.ts";
import { type Process, whereTo, world } from "./world.ts";

const { chat } = world();

const asksOf = (shown: readonly string[]): string[] => shown.filter((line) => line.startsWith("user")).sort();

test.each([1, 2])("two tabs that ask at once are both answered, over %i processes", async (count) => {
  const { shown, process } = chat();
  const one = await process();
  const other = count === 1 ? one : await process();
  await one.say("q-1", "Hello");
  const got = await Promise.all([one.say("q-2", "From the left"), other.say("q-3", "From the right")]);
  expect(got.map(({ status }) => status)).toEqual([200, 200]);
  const lines = await shown();
  expect(asksOf(lines)).toEqual(["user: From the left", "user: From the right", "user: Hello"]);
  // Each stands before its answer.
  expect(lines.map((line) => line.split(":")[0])).toEqual(
    Array.from({ length: 3 }, () => ["user", "assistant"]).flat(),
  );
  for (const line of lines.filter((line) => line.startsWith("assistant"))) expect(line).toEqual(whereTo);
  expect([...one.failures, ...other.failures]).toEqual([]);
});

test.each([1, 2])(
  "a question waits for the answer that is being made, over %i processes, and is shown it whole",
  async (count) => {
    const { shown, process } = chat();
    const [asked, { opened, open }] = [gate(), gate()];
    const slow = await process((goOn) => async (options) => {
      asked.open();
      if (slow.prompts.length === 1) await opened;
      return goOn(options);
    });
    const other = count === 1 ? slow : await process();
    const first = slow.say("q-1", "Hello");
    await asked.opened;
    const second = other.say("q-2", "And here?");
    // It has begun to wait, if it does.
    await new Promise((resolve) => setTimeout(resolve, 50));
    open();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    const roles = JSON.parse(other.prompts.at(-1) as string).map(({ role }: { role: string }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "user"]);
    expect(await shown()).toEqual(["user: Hello", whereTo, "user: And here?", whereTo]);
  },
);

/** A conversation of two turns, the second of which the first tab does not show. */
async function twoTabs(): Promise<{ shown(): Promise<string[]>; newest: string; tab: Process }> {
  const { shown, newest, process } = chat();
  const [tab, other] = [await process(), await process()];
  await tab.say("q-1", "Hello");
  await other.say("q-2", "From the other tab");
  return { shown, newest: (await newest()).id, tab };
}

test.each([
  ["tries again", "Hello"],
  ["edits", "Good morning"],
])("a tab that %s takes back no turn of another tab's that it does not show", async (_, text) => {
  const { shown, tab } = await twoTabs();
  const before = await shown();
  const got = await tab.say("q-1", text, { trigger: "regenerate-message" });
  expect(got).toEqual({ status: 409, text: "The conversation has gone on. Load it again." });
  expect((await tab.say("q-1", text, { seen: "q-1" })).status).toBe(409);
  expect(await shown()).toEqual(before);
  expect(tab.prompts).toHaveLength(1);
});

test("what a tab shows, it may take back", async () => {
  const { shown, tab, newest } = await twoTabs();
  expect((await tab.say("q-1", "Good morning", { seen: newest })).status).toBe(200);
  expect(await shown()).toEqual(["user: Good morning", whereTo]);
});

test.each([1, 2])(
  "trying again while another tab asks loses neither question, over %i processes",
  async (count) => {
    // Each round in a conversation of its own: which of the two questions comes to stand first is not said.
    for (let round = 0; round < 5; round++) {
      const { shown, process } = chat();
      const one = await process();
      const other = count === 1 ? one : await process();
      await one.say("q-1", "Hello");
      const [again, asked] = await Promise.all([one.say("q-1", "Hello"), other.say("other", "Also this")]);
      expect(asked.status).toBe(200);
      expect([200, 409]).toContain(again.status);
      const lines = await shown();
      expect(asksOf(lines)).toEqual(["user: Also this", "user: Hello"]);
      expect(lines.filter((line) => line.startsWith("assistant"))).toEqual([whereTo, whereTo]);
      expect([...one.failures, ...other.failures]).toEqual([]);
    }
  },
);

test("a question that is sent twice at once stands once, with one answer", async () => {
  const { shown, process } = chat();
  const [one, other] = [await process(), await process()];
  const got = await Promise.all([one, other].map((tab) => tab.say("q-1", "Hello")));
  expect(got.map(({ status }) => status)).toEqual([200, 200]);
  expect(await shown()).toEqual(["user: Hello", whereTo]);
  expect([...one.failures, ...other.failures]).toEqual([]);
});

test("a question that two tabs ask again at once stands once", async () => {
  const { shown, process } = chat();
  const [one, other] = [await process(), await process()];
  await one.say("q-1", "Hello");
  for (const round of [1, 2, 3, 4, 5]) {
    const got = await Promise.all([one, other].map((tab) => tab.say("q-1", `Hello ${round}`)));
    expect(got.map(({ status }) => status)).toEqual([200, 200]);
    expect(await shown()).toEqual([`user: Hello ${round}`, whereTo]);
  }
  expect([...one.failures, ...other.failures]).toEqual([]);
});

test("a question whose answer failed is answered when it is asked again", async () => {
  const { shown, process } = chat();
  const tab = await process((goOn) => async (options) => {
    if (tab.prompts.length === 1) throw new Error("The model is away.");
    return goOn(options);
  });
  expect((await tab.say("q-1", "Hello")).text).toContain('"type":"error"');
  expect(await shown()).toEqual(["user: Hello", "assistant: "]);
  expect((await tab.say("q-1", "Hello", { trigger: "regenerate-message" })).status).toBe(200);
  expect(await shown()).toEqual(["user: Hello", whereTo]);
  expect(tab.failures).toEqual([expect.objectContaining({ message: "The model is away." })]);
});

test.each([1, 2])(
  "an edited question ends the answer to the one before, over %i processes",
  async (count) => {
    const { shown, process } = chat();
    const asked = gate();
    const tab = await process((goOn) => async (options) => {
      if (tab.prompts.length > 1) return goOn(options);
      asked.open();
      // As a provider does at the signal.
      return new Promise((_, reject) => {
        options.abortSignal?.addEventListener("abort", () => reject(options.abortSignal?.reason));
      });
    });
    const other = count === 1 ? tab : await process();
    const first = tab.say("q-1", "Hello");
    await asked.opened;
    expect((await other.say("q-1", "Good morning")).status).toBe(200);
    expect((await first).text).toContain('"type":"abort"');
    expect(await shown()).toEqual(["user: Good morning", whereTo]);
    expect([...tab.failures, ...other.failures]).toEqual([]);
  },
);

test.each(["question first", "answer first"])(
  "what followed an edited question and its answer, which are deleted one by one, %s, follows no other branch",
  async (order) => {
    const { id, newest, process } = chat();
    const tab = await process();
    const transport = chatTransport({ api: tab.url, headers: { user: "ann" } });
    await tab.say("q-1", "Hello");
    const first = (await newest()).id;
    await tab.say("q-1", "Good morning");
    const second = (await newest()).id;
    await tab.say("q-2", "And to Rome?");
    const third = (await newest()).id;
    const edited = (await transport.tree(id)).messages.find(({ message }) => message.id === second)?.parentId;
    const gone = [edited as string, second];
    for (const message of order === "question first" ? gone : gone.reverse())
      await transport.deleteMessage(id, message);
    const { messages, headId } = await transport.tree(id);
    expect(messages.map(({ parentId, message }) => [parentId, message.id])).toEqual([
      [null, "q-1"],
      ["q-1", first],
      [null, "q-2"],
      ["q-2", third],
    ]);
    expect(headId).toBe(third);
    // What was taken back can be put back, and what is left of the other branch after it.
    const back = await transport.restoreVersion(id, first);
    expect(back.messages.map((message) => message.id)).toEqual(["q-1", first]);
    const again = await transport.restoreVersion(id, "q-2");
    expect(again.messages.map((message) => message.id)).toEqual(["q-2", third]);
    expect(tab.failures).toEqual([]);
  },
);
