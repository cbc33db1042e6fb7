import type { AgentInputItem } from "@openai/agents-core";
import { openaiResponses, validate } from "@turnkeep/formats/profiles";
import { createDatabase } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import { bundled, resultOf } from "@turnkeep/store-tests/processes";
import { beforeAll, expect, inject, test } from "vitest";
import { agentsFormat, TurnkeepSession } from "../src/index.ts";
import { memoriesOf, recorded, told } from "./agents.ts";
import type { RunTask } from "./run-process.ts";

let program: string;
beforeAll(async () => {
  program = await bundled(new URL("run-process.ts", import.meta.url), {
    external: [/^pg$/, /^@openai\//, /^zod$/],
  });
});

/** The prompts of its model, or that it was killed. */
const perform = (task: RunTask) => resultOf<AgentInputItem[][]>(program, task);

async function database() {
  const { url } = await createDatabase(inject("postgresUrl"));
  const store = postgresStore({ url });
  await store.migrate();
  const memories = memoriesOf({ maxMessages: 500 }, store);
  const session = new TurnkeepSession({ memories, sessionId: "chat-1", owner: "ann" });
  return { url, session, close: () => store.close() };
}

test("another process goes on after kill -9 in the second tool", async () => {
  const { url, session, close } = await database();
  expect(await perform({ url, questions: ["Do it."], dies: true })).toBe("SIGKILL");
  const before = ["user: Do it.", "[first]", "(first done)"];
  expect(await recorded(session)).toEqual(before);
  const prompts = (await perform({ url, questions: ["Go on"], dies: false })) as AgentInputItem[][];
  expect(prompts.map((prompt) => prompt.map(told))).toEqual([[...before, "user: Go on"]]);
  expect(await recorded(session)).toEqual([...before, "user: Go on", "assistant: Done."]);
  await close();
});

test("two processes at once lose nothing, and each run is whole", async () => {
  const { url, session, close } = await database();
  const asked = (name: string) => Array.from({ length: 5 }, (_, n) => `${name} ${n}`);
  const performed = ["a", "b"].map((name) => perform({ url, questions: asked(name), dies: false }));
  for (const prompt of (await Promise.all(performed)).flat() as AgentInputItem[][]) {
    expect(validate(prompt, openaiResponses, { format: agentsFormat })).toEqual([]);
  }
  const items = await session.getItems();
  expect(items).toHaveLength(2 * 5 * 6);
  for (const name of ["a", "b"]) {
    expect(items.map(told).filter((line) => line.startsWith(`user: ${name}`))).toEqual(
      asked(name).map((text) => `user: ${text}`),
    );
  }
  const ids = (type: string) =>
    items.flatMap((item) => (item.type === type ? [(item as { callId: string }).callId] : []));
  expect(new Set(ids("function_call")).size).toBe(20);
  expect(ids("function_call_result").sort()).toEqual(ids("function_call").sort());
  expect(items.map(told).filter((line) => line === "assistant: Done.")).toHaveLength(10);
  await close();
});
