import { createChatMemories } from "@turnkeep/core";
import { createDatabase } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import { bundled, resultOf } from "@turnkeep/store-tests/processes";
import { beforeAll, expect, inject, test } from "vitest";
import { langchainFormat } from "../src/index.ts";
import type { AgentTask } from "./agent-process.ts";

let program: string;
beforeAll(async () => {
  program = await bundled(new URL("agent-process.ts", import.meta.url), { external: [/^pg$/] });
});

/** The prompts of its model, as `type: text`, or that it was killed. */
const run = (task: AgentTask) => resultOf<string[][]>(program, task);

async function database() {
  const { url } = await createDatabase(inject("postgresUrl"));
  const store = postgresStore({ url });
  await store.migrate();
  const memories = createChatMemories({ store, format: langchainFormat });
  const said = async () => {
    const { messages } = await memories.get("chat-1", { owner: "ann" }).history({ limit: 1000 });
    return messages.map(({ message }) => message);
  };
  return { url, said, close: () => store.close() };
}

test.each([false, true])(
  "another process goes on after kill -9 in the second tool, both called at once: %s",
  async (atOnce) => {
    const { url, said, close } = await database();
    const task = { url, atOnce };
    expect(await run({ ...task, questions: ["Do it."], dies: true })).toBe("SIGKILL");
    const before = await said();
    expect(before.map(({ type }) => type)).toEqual(
      atOnce ? ["human", "ai", "tool"] : ["human", "ai", "tool", "ai"],
    );
    const [prompt] = (await run({ ...task, questions: ["Go on"], dies: false })) as string[][];
    expect(prompt?.map((line) => line.split(":")[0])).toEqual(
      atOnce ? ["human", "ai", "tool", "tool", "human"] : ["human", "ai", "tool", "ai", "tool", "human"],
    );
    const after = await said();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length).map(({ text }) => text)).toEqual(["Go on", "Done, with first done."]);
    await close();
  },
);

test("two processes at once lose nothing, and each run is whole", async () => {
  const { url, said, close } = await database();
  const asked = (name: string) => Array.from({ length: 10 }, (_, n) => `${name} ${n}`);
  const tasks = ["a", "b"].map((name) => ({ url, questions: asked(name), atOnce: false, dies: false }));
  await Promise.all(tasks.map(run));
  const messages = await said();
  expect(messages).toHaveLength(2 * 10 * 6);
  const questions = messages.filter(({ type }) => type === "human").map(({ text }) => text);
  expect([...questions].sort()).toEqual([...asked("a"), ...asked("b")].sort());
  for (const name of ["a", "b"]) {
    expect(questions.filter((text) => text.startsWith(name))).toEqual(asked(name));
  }
  const calls = messages.flatMap((message) => langchainFormat.toolCalls(message).map(({ id }) => id));
  const results = messages.flatMap((message) => langchainFormat.toolResults(message).map(({ id }) => id));
  expect([...results].sort()).toEqual([...calls].sort());
  expect(new Set(calls).size).toBe(40);
  await close();
});
