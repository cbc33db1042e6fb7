import type { Event } from "@google/adk";
import { createDatabase } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import { bundled, resultOf } from "@turnkeep/store-tests/processes";
import { beforeAll, expect, inject, test } from "vitest";
import { adkFormat } from "../src/index.ts";
import type { AgentTask } from "./agent-process.ts";
import { names, serviceOf, told } from "./world.ts";

let program: string;
beforeAll(async () => {
  program = await bundled(new URL("agent-process.ts", import.meta.url), {
    external: [/^pg$/, /^@google\/adk$/, /^vitest$/, /^zod$/],
  });
});

/** The prompts of its model, or that it was killed. */
const run = (task: AgentTask) => resultOf<string[][]>(program, task);

async function database() {
  const { url } = await createDatabase(inject("postgresUrl"));
  const store = postgresStore({ url });
  await store.migrate();
  await serviceOf({ store }).createSession(names);
  const events = async (): Promise<Event[]> => (await serviceOf({ store }).getSession(names))?.events ?? [];
  return { url, events, close: () => store.close() };
}

const lines = (events: readonly Event[]) => events.map(({ content }) => told(content ?? {}));

test("another process goes on after kill -9 in the second tool", async () => {
  const { url, events, close } = await database();
  expect(await run({ url, questions: ["Do it."], dies: true })).toBe("SIGKILL");
  const before = lines(await events());
  const first = 'user: <first {"result":"first done"}>';
  expect(before).toEqual(["user: Do it.", "model: [first]", first, "model: [second]"]);
  const [prompt] = (await run({ url, questions: ["Go on"], dies: false })) as string[][];
  expect(prompt).toEqual([...before, expect.stringMatching(/^user: <second .*interrupted/), "user: Go on"]);
  const after = lines(await events());
  expect(after).toEqual([...before, "user: Go on", "model: Done, with first done."]);
  await close();
});

test("two processes at once lose nothing, and each run is whole", async () => {
  const { url, events, close } = await database();
  const asked = (name: string) => Array.from({ length: 5 }, (_, n) => `${name} ${n}`);
  await Promise.all(["a", "b"].map((name) => run({ url, questions: asked(name), dies: false })));
  const said = await events();
  expect(said).toHaveLength(2 * 5 * 6);
  const questions = lines(said.filter(({ author }) => author === "user"));
  for (const name of ["a", "b"]) {
    expect(questions.filter((line) => line.startsWith(`user: ${name}`))).toEqual(
      asked(name).map((text) => `user: ${text}`),
    );
  }
  const calls = said.flatMap((event) => adkFormat.toolCalls(event).map(({ id }) => id));
  const results = said.flatMap((event) => adkFormat.toolResults(event).map(({ id }) => id));
  expect([...results].sort()).toEqual([...calls].sort());
  expect(new Set(calls).size).toBe(20);
  await close();
});
