import { until } from "@turnkeep/store-tests/gate";
import { tool, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { threadHistory } from "../src/chat-threads/history.ts";
import { callsTool } from "./models.ts";
import { server } from "./world.ts";

const answer: UIMessage = {
  id: "a-1",
  role: "assistant",
  metadata: { status: "done", note: { of: "the application" } },
  parts: [
    { type: "step-start" },
    { type: "reasoning", text: "Hm.", state: "done", providerMetadata: { anthropic: { signature: "s" } } },
    { type: "text", text: "See.", state: "done" },
    {
      type: "tool-look",
      toolCallId: "c-1",
      state: "output-available",
      input: { at: 1 },
      output: { found: [1, null] },
    },
    {
      type: "tool-look",
      toolCallId: "c-2",
      state: "output-error",
      input: { at: 2 },
      errorText: "Nothing there.",
    },
    {
      type: "dynamic-tool",
      toolName: "far",
      toolCallId: "c-3",
      state: "output-available",
      input: {},
      output: "x",
    },
    { type: "source-url", sourceId: "s-1", url: "https://example.com/", title: "Example" },
    { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA", filename: "a.png" },
    { type: "data-weather", id: "d-1", data: { degrees: -0.5 } },
  ],
};
const question: UIMessage = {
  id: "q-1",
  role: "user",
  parts: [
    { type: "text", text: "What is it? \u0000 \u{1f600}" },
    { type: "file", mediaType: "image/png", url: "data:image/png;base64,BBBB" },
  ],
};

test("every kind of part comes back as it was stored, and goes on", async () => {
  const { page, memories, prompts, failures } = server(["Yes."]);
  await memories.get("thread-1", { owner: "ann" }).add(question, answer);
  const tab = await page();
  await tab.open("thread-1");
  const { messages, headId } = tab.runtime.thread.exportExternalState();
  expect(messages).toEqual([
    { parentId: null, message: { ...question, id: expect.any(String) } },
    { parentId: expect.any(String), message: { ...answer, id: headId } },
  ]);
  expect(tab.shown().join()).toContain("[look: [object Object]]");
  await tab.ask("And?");
  expect(prompts[0]?.map((said) => said.split(":")[0])).toEqual(["user", "assistant", "tool", "user"]);
  expect(failures).toEqual([]);
});

/** A tool that books when the user has said so, and how often it has. */
function booking() {
  let count = 0;
  const book = tool({
    description: "books",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `${city} ${++count}`,
  });
  return {
    tools: { book },
    settings: { toolApproval: { book: "user-approval" } } as object,
    count: () => count,
  };
}

test("a call that waits for the user is decided in a page that was loaded since", async () => {
  const { count, ...booked } = booking();
  const { page, failures } = server([callsTool("book", { city: "Oslo" }), "Booked."], booked);
  const tab = await page();
  await tab.ask("Book it.");
  const loaded = await page();
  await loaded.open(tab.threadId());
  expect(loaded.shown()).toEqual(["user: Book it.", "assistant: [book]"]);
  const part = loaded.runtime.thread.getMessageByIndex(1).getMessagePartByToolCallId(callId(loaded));
  part.respondToToolApproval({ approved: true });
  await until(() => loaded.shown()[1] === "assistant: [book: Oslo 1] Booked.");
  expect(count()).toBe(1);
  expect(failures).toEqual([]);
});

function callId({ runtime }: Awaited<ReturnType<ReturnType<typeof server>["page"]>>): string {
  const call = runtime.thread.getState().messages[1]?.content.find(({ type }) => type === "tool-call");
  return (call as { toolCallId: string }).toolCallId;
}

test("the page shows everything, and the model what the window shows, each call with its result", async () => {
  const look = tool({ description: "looks", inputSchema: z.object({}), execute: async () => "found" });
  const { page, prompts, failures } = server([callsTool("look"), "1", callsTool("look"), "2", "3"], {
    tools: { look },
    window: { maxMessages: 3 },
  });
  const tab = await page();
  await tab.ask("A");
  await tab.ask("B");
  await tab.ask("C");
  expect(prompts.at(-1)).toEqual([
    "user: B",
    "assistant: [look]",
    "tool: (found)",
    "assistant: 2",
    "user: C",
  ]);
  const loaded = await page();
  await loaded.open(tab.threadId());
  expect(loaded.shown()).toEqual([
    "user: A",
    "assistant: [look: found] 1",
    "user: B",
    "assistant: [look: found] 2",
    "user: C",
    "assistant: 3",
  ]);
  expect(failures).toEqual([]);
});

test("another runtime than that of the AI SDK is refused, as it would be stored nowhere", () => {
  const history = threadHistory({} as never, {} as never, () => ({ id: "thread-1" }));
  const message = "with useChatRuntime";
  expect(() => history.load()).toThrow(message);
  expect(() => history.append({} as never)).toThrow(message);
  expect(() => history.withFormat?.({ format: "aui/v0" } as never)).toThrow(message);
});
