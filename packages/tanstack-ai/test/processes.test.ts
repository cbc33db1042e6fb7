import { createChatMemories } from "@turnkeep/core";
import { createDatabase } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import { bundled, resultOf } from "@turnkeep/store-tests/processes";
import { beforeAll, expect, inject, test } from "vitest";
import { tanstackFormat } from "../src/index.ts";
import type { ChatTask } from "./chat-process.ts";
import { told } from "./chats.ts";

let program: string;
beforeAll(async () => {
  program = await bundled(new URL("chat-process.ts", import.meta.url), { external: [/^pg$/, /^vitest$/] });
});

/** The prompts of its model, or that it was killed. */
const run = (task: ChatTask) => resultOf<string[][]>(program, task);

async function database() {
  const { url } = await createDatabase(inject("postgresUrl"));
  const store = postgresStore({ url });
  await store.migrate();
  const memories = createChatMemories({ store, format: tanstackFormat });
  const said = async () => {
    const { messages } = await memories.get("chat-1", { owner: "ann" }).history({ limit: 1000 });
    return messages.map(({ message }) => message);
  };
  return { url, said, close: () => store.close() };
}

const killed = {
  one: ["user: Do it.", "assistant: [first]", "(first done)", "assistant: [second]"],
  both: ["user: Do it.", "assistant: [first][second]", "(first done)"],
};
const open = '({"error":"The tool call was interrupted: no result was recorded."})';

test.each([
  { atOnce: false, question: "Go on", before: killed.one, shown: [...killed.one, open, "user: Go on"] },
  { atOnce: true, question: "Go on", before: killed.both, shown: [...killed.both, open, "user: Go on"] },
  { atOnce: true, question: null, before: killed.both, shown: [...killed.both, "(second done)"] },
])(
  "another process goes on after kill -9 in the second tool, both called at once: $atOnce, asked: $question",
  async ({ atOnce, question, before, shown }) => {
    const { url, said, close } = await database();
    expect(await run({ url, atOnce, questions: ["Do it."], dies: true })).toBe("SIGKILL");
    const kept = await said();
    expect(kept.map(told)).toEqual(before);
    expect(await run({ url, atOnce, questions: [question], dies: false })).toEqual([shown]);
    const after = await said();
    expect(after.slice(0, kept.length)).toEqual(kept);
    const results = question === null ? "first done and second done" : "first done";
    expect(after.slice(kept.length).map(told)).toEqual([
      question === null ? "(second done)" : "user: Go on",
      `assistant: Done, with ${results}.`,
    ]);
    await close();
  },
);

test("two processes at once lose nothing, and each run is whole", async () => {
  const { url, said, close } = await database();
  const asked = (name: string) => Array.from({ length: 10 }, (_, n) => `${name} ${n}`);
  const tasks = ["a", "b"].map((name) => ({ url, questions: asked(name), atOnce: false, dies: false }));
  const prompts = await Promise.all(tasks.map(run));
  expect(prompts.map((shown) => shown.length)).toEqual([30, 30]);
  const messages = await said();
  expect(messages).toHaveLength(2 * 10 * 6);
  const questions = messages.filter(({ role }) => role === "user").map(({ content }) => content as string);
  for (const name of ["a", "b"]) {
    expect(questions.filter((text) => text.startsWith(name))).toEqual(asked(name));
  }
  const calls = messages.flatMap((message) => tanstackFormat.toolCalls(message).map(({ id }) => id));
  const results = messages.flatMap((message) => tanstackFormat.toolResults(message).map(({ id }) => id));
  expect([...results].sort()).toEqual([...calls].sort());
  expect(new Set(calls).size).toBe(40);
  await close();
});
