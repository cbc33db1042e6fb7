import { type ChatMemory, createChatMemories } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { createDatabase } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import { bundled, resultOf } from "@turnkeep/store-tests/processes";
import type { ModelMessage, UIMessage } from "ai";
import { beforeAll, expect, inject, test } from "vitest";
import { line } from "./browser.ts";
import type { ChatTask } from "./chat-process.ts";
import { told } from "./models.ts";

let program: string;
beforeAll(async () => {
  program = await bundled(new URL("chat-process.ts", import.meta.url), {
    external: [/^pg$/, /^ai/, /^zod$/],
  });
});

/** The prompts of its model, or that it was killed. */
const run = (task: ChatTask) => resultOf<string[][]>(program, task);

async function database() {
  const { url } = await createDatabase(inject("postgresUrl"));
  const store = postgresStore({ url });
  await store.migrate();
  const said = async <M>(memory: ChatMemory<M>): Promise<M[]> =>
    (await memory.history({ limit: 1000 })).messages.map(({ message }) => message);
  const modelMessages = createChatMemories<ModelMessage>({ store }).get("chat-1", { owner: "ann" });
  const format = uiMessageFormat<UIMessage>();
  const uiMessages = createChatMemories({ store, format }).get("chat-1", { owner: "ann" });
  return {
    url,
    steps: async () => (await said(modelMessages)).map(told),
    chat: () => said(uiMessages),
    close: () => store.close(),
  };
}

test("steps: another process goes on after kill -9 in the second tool", async () => {
  const { url, steps, close } = await database();
  const task = { url, way: "steps" } as const;
  expect(await run({ ...task, questions: ["Do it."], dies: true })).toBe("SIGKILL");
  const before = ["user: Do it.", "assistant: [first]", "tool: (first done)"];
  expect(await steps()).toEqual(before);
  const prompts = await run({ ...task, questions: ["Go on"], dies: false });
  expect(prompts).toEqual([[...before, "user: Go on"]]);
  expect(await steps()).toEqual([...before, "user: Go on", "assistant: Done."]);
  await close();
});

test("chatHandler: another process goes on after kill -9 in the second tool, and the answer is marked", async () => {
  const { url, chat, close } = await database();
  const task = { url, way: "chatHandler" } as const;
  expect(await run({ ...task, questions: ["Do it."], dies: true })).toBe("SIGKILL");
  const before = await chat();
  expect(before.map(line)).toEqual([
    "user: Do it.",
    expect.stringMatching("^assistant: \\[output-available\\]"),
  ]);
  expect(before[1]?.metadata).toMatchObject({ status: "streaming" });
  const [prompt] = (await run({ ...task, questions: ["Go on"], dies: false })) as string[][];
  expect(prompt?.slice(0, 3)).toEqual(["user: Do it.", "assistant: [first]", "tool: (first done)"]);
  expect(prompt?.at(-1)).toBe("user: Go on");
  const after = await chat();
  expect(after[1]).toMatchObject({ id: before[1]?.id, metadata: { status: "interrupted" } });
  expect(after.slice(2).map(line)).toEqual(["user: Go on", "assistant: Done."]);
  await close();
});

const asked = (name: string) => Array.from({ length: 5 }, (_, n) => `${name} ${n}`);

test("steps: two processes at once lose nothing, and each run is whole", async () => {
  const { url, steps, close } = await database();
  const tasks = ["a", "b"].map(
    (name) => ({ url, way: "steps", questions: asked(name), dies: false }) as const,
  );
  await Promise.all(tasks.map(run));
  const said = await steps();
  expect(said).toHaveLength(2 * 5 * 6);
  for (const name of ["a", "b"]) {
    expect(said.filter((text) => text.startsWith(`user: ${name}`))).toEqual(
      asked(name).map((text) => `user: ${text}`),
    );
  }
  expect(said.filter((text) => text.startsWith("tool"))).toHaveLength(20);
  await close();
});

test("chatHandler: two processes at once answer one after the other", async () => {
  const { url, chat, close } = await database();
  const tasks = ["a", "b"].map(
    (name) => ({ url, way: "chatHandler", questions: asked(name), dies: false }) as const,
  );
  const prompts = (await Promise.all(tasks.map(run))) as string[][][];
  const said = await chat();
  expect(said.map(({ role }) => role)).toEqual(
    Array.from({ length: 10 }, () => ["user", "assistant"]).flat(),
  );
  for (const answer of said.filter(({ role }) => role === "assistant")) {
    expect(line(answer)).toBe("assistant: [output-available] [output-available] Done.");
    expect(answer.metadata).toMatchObject({ status: "done" });
  }
  // Whoever asked was shown all that was said before, and nothing of an answer that was being made.
  for (const prompt of prompts.flat()) {
    const open =
      prompt.filter((text) => text.startsWith("user")).length -
      prompt.filter((text) => text.endsWith("Done.")).length;
    expect(open).toBe(1);
  }
  await close();
});
