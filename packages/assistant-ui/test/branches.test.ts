import { until } from "@turnkeep/store-tests/gate";
import { expect, test } from "vitest";
import { slowly } from "./models.ts";
import { server } from "./world.ts";

test("a thread with an edit and another answer is loaded with all its branches", async () => {
  const { page, failures, prompts } = server(["One.", "Two.", "Three."]);
  const tab = await page();
  await tab.ask("Count.");
  await tab.reload(1);
  expect(tab.shown()).toEqual(["user: Count.", "assistant: Two."]);
  await tab.edit(0, "Count on.");
  expect(tab.shown()).toEqual(["user: Count on.", "assistant: Three."]);
  const tree = {
    headId: "assistant: Three.",
    messages: [
      "user: Count.",
      "user: Count. > assistant: One.",
      "user: Count. > assistant: Two.",
      "user: Count on.",
      "user: Count on. > assistant: Three.",
    ],
  };
  expect(tab.tree()).toEqual(tree);
  expect(prompts.at(-1)).toEqual(["user: Count on."]);
  const other = await page();
  await other.open(tab.threadId());
  expect(other.tree()).toEqual(tree);
  expect(other.shown()).toEqual(tab.shown());
  expect(failures).toEqual([]);
});

test.each([
  { told: "at once", keepsBranch: true },
  { told: "by the next question alone", keepsBranch: false },
])("a branch that the user switches to is kept, told $told", async ({ keepsBranch }) => {
  const { page, memories, failures, prompts } = server(["One.", "Two.", "Three."]);
  const tab = await page("ann", keepsBranch);
  await tab.ask("Count.");
  await tab.reload(1);
  tab.runtime.thread.getMessageByIndex(1).switchToBranch({ position: "previous" });
  await until(() => tab.shown()[1] === "assistant: One.");
  if (keepsBranch) {
    const memory = memories.get(tab.threadId());
    await until(async () => JSON.stringify(await memory.messages()).includes("One."));
    const other = await page();
    await other.open(tab.threadId());
    expect(other.shown()).toEqual(["user: Count.", "assistant: One."]);
  }
  await tab.ask("Go on.");
  expect(prompts.at(-1)).toEqual(["user: Count.", "assistant: One.", "user: Go on."]);
  const loaded = await page();
  await loaded.open(tab.threadId());
  expect(loaded.shown()).toEqual(["user: Count.", "assistant: One.", "user: Go on.", "assistant: Three."]);
  expect(loaded.tree()).toEqual(tab.tree());
  expect(failures).toEqual([]);
});

test.each([
  { told: "at once", keepsBranch: true },
  { told: "by the next question alone", keepsBranch: false },
])(
  "an edit deep in a branch that is not the conversation's, and another answer there, told $told",
  async ({ keepsBranch }) => {
    const { page, failures, prompts } = server(["1", "2", "3", "4", "5", "6"]);
    const tab = await page("ann", keepsBranch);
    await tab.ask("A");
    await tab.ask("B");
    await tab.edit(0, "C");
    tab.runtime.thread.getMessageByIndex(0).switchToBranch({ position: "previous" });
    await until(() => tab.shown().length === 4);
    await tab.edit(2, "D");
    expect(prompts.at(-1)).toEqual(["user: A", "assistant: 1", "user: D"]);
    tab.runtime.thread.getMessageByIndex(0).switchToBranch({ position: "next" });
    await until(() => tab.shown().length === 2);
    await tab.reload(1);
    expect(prompts.at(-1)).toEqual(["user: C"]);
    const loaded = await page();
    await loaded.open(tab.threadId());
    expect(loaded.shown()).toEqual(["user: C", "assistant: 5"]);
    expect([...loaded.tree().messages].sort()).toEqual([...tab.tree().messages].sort());
    expect(failures).toEqual([]);
  },
);

test("two tabs in one thread lose nothing, and neither takes back what it has not seen", async () => {
  const { page, memories } = server(["1", "2", "3", "4"]);
  const tab = await page();
  await tab.ask("A");
  const other = await page();
  await other.open(tab.threadId());
  await other.ask("B");
  await tab.ask("C");
  const kept = ["user: A", "assistant: 1", "user: B", "assistant: 2", "user: C", "assistant: 3"];
  const loaded = await page();
  await loaded.open(tab.threadId());
  expect(loaded.shown()).toEqual(kept);
  await other.edit(0, "D");
  expect(other.runtime.thread.getState().messages.at(-1)?.status).toMatchObject({
    type: "incomplete",
    reason: "error",
  });
  const { messages } = await memories.get(tab.threadId()).history({ states: ["superseded"] });
  expect(messages).toEqual([]);
});

test("a question whose response was lost is asked again, and stored once", async () => {
  const { page, memories, net, failures } = server(["One.", "Two."]);
  const tab = await page();
  net.isDown = true;
  await tab.ask("Count.");
  net.isDown = false;
  const { messages } = tab.runtime.thread.getState();
  tab.runtime.thread.startRun({ parentId: messages[0]?.id ?? null });
  await tab.settled();
  expect(tab.shown()).toEqual(["user: Count.", "assistant: Two."]);
  const { messages: stored } = await memories.get(tab.threadId()).history();
  expect(stored.map(({ message, state }) => `${state} ${message.role}`)).toEqual([
    "live user",
    "superseded assistant",
    "live assistant",
  ]);
  expect(failures).toEqual([]);
});

test("an answer that is being made is shown to a page that is loaded meanwhile, to its end", async () => {
  const { reply, begun, goOn } = slowly("One, ", "two.");
  const { page, memories, failures } = server([reply, "Three."]);
  const tab = await page();
  tab.runtime.thread.append("Count.");
  await begun;
  await until(() => tab.threadId() !== undefined);
  const id = tab.threadId();
  await until(async () => JSON.stringify(await memories.get(id).messages()).includes("One, "));
  const loaded = await page();
  await loaded.runtime.threads.switchToThread(id);
  await until(() => loaded.shown()[1] === "assistant: One, ");
  goOn();
  await until(() => loaded.shown()[1] === "assistant: One, two.");
  await loaded.settled();
  await loaded.ask("And?");
  expect(loaded.shown()).toEqual(["user: Count.", "assistant: One, two.", "user: And?", "assistant: Three."]);
  expect(failures).toEqual([]);
});

test("a message that is deleted is gone, and what was said behind it stays", async () => {
  const { page, failures } = server(["1", "2"]);
  const tab = await page();
  await tab.ask("A");
  await tab.ask("B");
  await tab.runtime.thread.getMessageByIndex(1).delete();
  await until(() => tab.shown().length === 3);
  const loaded = await page();
  await loaded.open(tab.threadId());
  expect(loaded.shown()).toEqual(["user: A", "user: B", "assistant: 2"]);
  expect(failures).toEqual([]);
});

test("an answer goes on while another thread is shown", async () => {
  const { reply, begun, goOn } = slowly("One, ", "two.");
  const { page, memories, failures } = server([reply, "Three."]);
  const tab = await page();
  tab.runtime.thread.append("Count.");
  await begun;
  await until(() => tab.threadId() !== undefined);
  const id = tab.threadId();
  await tab.runtime.threads.switchToNewThread();
  await tab.ask("Hello");
  goOn();
  await until(async () => JSON.stringify(await memories.get(id).messages()).includes("two."));
  await tab.open(id);
  await until(() => tab.shown()[1] === "assistant: One, two.");
  expect(failures).toEqual([]);
});
