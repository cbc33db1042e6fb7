import {
  type ChatMemory,
  type ChatMemoryOptions,
  createChatMemory,
  inMemoryStore,
  isTurnkeepError,
  system,
  user,
} from "@turnkeep/core";
import { openai, validate } from "@turnkeep/formats/profiles";
import * as sdk from "ai";
import { generateText, type ModelMessage, stepCountIs, streamText, ToolLoopAgent, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { steps } from "../src/index.ts";
import { callsTool, modelOf, type Reply, says, told } from "./models.ts";

type Memory = ChatMemory<ModelMessage>;

function memoryOf(options: ChatMemoryOptions<ModelMessage> = {}): Memory {
  return createChatMemory<ModelMessage>({ id: "chat-1", store: inMemoryStore(), ...options } as never);
}

const toolOf = (run: () => unknown) =>
  tool({ description: "does it", inputSchema: z.object({}), execute: async () => run() });

/** What is stored, superseded messages apart. */
async function recorded(memory: Memory): Promise<string[]> {
  const { messages } = await memory.history({ states: ["live", "evicted"] });
  return messages.map(({ message }) => told(message));
}

const stopWhen = stepCountIs(8);

/** The ways to run the SDK over a memory. */
const ways = {
  async streamText(memory: Memory, settings: Pick<Parameters<typeof streamText>[0], "model" | "tools">) {
    const run = await steps(memory);
    const result = streamText({ ...settings, stopWhen, ...run, onError: () => undefined });
    await result.consumeStream();
    const text = await result.text;
    await run.done();
    return text;
  },
  async generateText(memory: Memory, settings: Pick<Parameters<typeof streamText>[0], "model" | "tools">) {
    const run = await steps(memory);
    const { text } = await generateText({ ...settings, stopWhen, ...run });
    await run.done();
    return text;
  },
  async agent(memory: Memory, settings: Pick<Parameters<typeof streamText>[0], "model" | "tools">) {
    const { messages, ...hooks } = await steps(memory);
    const { text } = await new ToolLoopAgent({ ...settings, stopWhen, ...hooks }).generate({ messages });
    await hooks.done();
    return text;
  },
};

const each = Object.entries(ways);

const { experimental_createSteering: createSteering } = sdk as {
  readonly experimental_createSteering?: () => { steer(text: string): Promise<unknown> };
};

// From major 7 on.
test.runIf(createSteering !== undefined)(
  "what a user puts in while it runs stands before the next answer",
  async () => {
    const steering = createSteering?.();
    const memory = memoryOf();
    await memory.add(user("Go."));
    const steer = toolOf(() => void steering?.steer("Be quick."));
    const { model } = modelOf(callsTool("steer"), callsTool("steer"), says("Done."));
    const { done, ...run } = await steps(memory);
    const settings = { model, tools: { steer }, stopWhen, experimental_steering: steering, ...run };
    await generateText(settings as unknown as Parameters<typeof generateText>[0]);
    await done();
    const step = ["assistant: [steer]", expect.stringMatching(/^tool: /), "user: Be quick."];
    expect(await recorded(memory)).toEqual(["user: Go.", ...step, ...step, "assistant: Done."]);
  },
);

test.each(each)("%s is shown the memory, and what it says is stored", async (_, run) => {
  const memory = memoryOf();
  const { model, prompts } = modelOf(says("Hello, Ann."), says("You are Ann."));
  await memory.add(system("Be brief."), user("I am Ann."));
  expect(await run(memory, { model })).toBe("Hello, Ann.");
  await memory.add(user("Who am I?"));
  await run(memory, { model });
  const asked = ["system: Be brief.", "user: I am Ann.", "assistant: Hello, Ann.", "user: Who am I?"];
  expect(prompts[1]?.map(told)).toEqual(asked);
  expect(await recorded(memory)).toEqual([...asked, "assistant: You are Ann."]);
});

test.each(each)("%s stores each step before the next begins", async (_, run) => {
  const memory = memoryOf();
  const seen: string[][] = [];
  const look = toolOf(async () => {
    seen.push(await recorded(memory));
    return "seen";
  });
  const { model, prompts } = modelOf(callsTool("look"), callsTool("look"), says("Done."));
  await memory.add(user("Do it."));
  await run(memory, { model, tools: { look } });
  const first = ["user: Do it.", "assistant: [look]", "tool: (seen)"];
  expect(seen).toEqual([first.slice(0, 1), first]);
  const all = [...first, "assistant: [look]", "tool: (seen)", "assistant: Done."];
  expect(await recorded(memory)).toEqual(all);
  expect(prompts.map((prompt) => prompt.map(told))).toEqual([
    all.slice(0, 1),
    all.slice(0, 3),
    all.slice(0, 5),
  ]);
});

test.each(each)(
  "%s is shown no call without its result, and the question for as long as it runs",
  async (_, run) => {
    const memory = memoryOf({ window: { maxMessages: 5 } });
    const look = toolOf(() => "seen");
    const looks: Reply[] = Array.from({ length: 5 }, () => callsTool("look"));
    const { model, prompts } = modelOf(...looks, says("Done."));
    await memory.add(user("Do it."));
    await run(memory, { model, tools: { look } });
    expect(await recorded(memory)).toHaveLength(12);
    const shown = prompts.at(-1)?.map(told);
    expect(shown).toEqual([
      "user: Do it.",
      "assistant: [look]",
      "tool: (seen)",
      "assistant: [look]",
      "tool: (seen)",
    ]);
    expect(validate(await memory.messages(), openai, { format: memory.format })).toEqual([]);
  },
);

test.each(each)("%s ends when its question is taken back, and nothing comes back", async (_, run) => {
  for (const take of ["clear", "rewind"] as const) {
    const memory = memoryOf();
    const taking = toolOf(async () => {
      const [question] = await memory.entries();
      await (take === "clear" ? memory.clear() : memory.rewind(question?.id ?? ""));
      return "taken";
    });
    const { model, prompts } = modelOf(callsTool("taking"), says("Never."));
    await memory.add(user("Do it."));
    await expect(run(memory, { model, tools: { taking } })).rejects.toThrow();
    expect(prompts).toHaveLength(1);
    expect(await recorded(memory)).toEqual([]);
  }
});

test("a run that failed goes on from its last step", async () => {
  const memory = memoryOf();
  const look = toolOf(() => "seen");
  const { model, prompts } = modelOf(callsTool("look"), new Error("away"), says("Done."));
  await memory.add(user("Do it."));
  const settings = { model, tools: { look }, maxRetries: 0, stopWhen };
  await expect(generateText({ ...settings, ...(await steps(memory)) })).rejects.toThrow("away");
  await generateText({ ...settings, ...(await steps(memory)) });
  const all = ["user: Do it.", "assistant: [look]", "tool: (seen)", "assistant: Done."];
  expect(prompts[2]?.map(told)).toEqual(all.slice(0, 3));
  expect(await recorded(memory)).toEqual(all);
});

test.each(["streamText", "generateText"] as const)(
  "%s carries out what was approved, and stores it",
  async (way) => {
    const memory = memoryOf();
    let carriedOut = 0;
    const book = tool({
      description: "books",
      inputSchema: z.object({}),
      needsApproval: true,
      execute: async () => `booked ${++carriedOut}`,
    });
    const { model, prompts } = modelOf(callsTool("book"), says("Booked."));
    await memory.add(user("Book it."));
    await ways[way](memory, { model, tools: { book } });
    expect(carriedOut).toBe(0);
    const [request] = memory.format.approvals((await memory.messages()).at(-1) as ModelMessage);
    await memory.add({
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId: request?.approvalId ?? "", approved: true }],
    });
    await ways[way](memory, { model, tools: { book } });
    expect(carriedOut).toBe(1);
    expect((await recorded(memory)).slice(-2)).toEqual(["tool: (booked 1)", "assistant: Booked."]);
    expect(prompts.at(-1)?.at(-1)).toMatchObject({ role: "tool" });
  },
);

test("tells of a step that could not be stored", async () => {
  const memory = memoryOf();
  const { model } = modelOf(async () => {
    await memory.close();
    return says("Hello.");
  });
  await memory.add(user("Hello"));
  const run = await steps(memory);
  expect((await generateText({ model, ...run })).text).toBe("Hello.");
  expect(isTurnkeepError(await run.done().catch((error: unknown) => error), "CLOSED")).toBe(true);
});

test("a write whose outcome stayed open is not made twice", async () => {
  const memory = memoryOf();
  await memory.add(user("Hello"));
  const run = await steps(memory);
  const answer = { role: "assistant" as const, content: "Good morning." };
  const transaction = memory.transaction.bind(memory);
  memory.transaction = (async (change: never, options: never) => {
    await transaction(change, options);
    throw new Error("The connection was lost.");
  }) as never;
  await expect(run.onStepEnd({ response: { messages: [answer] } })).rejects.toThrow("lost");
  memory.transaction = transaction;
  await run.prepareStep({ messages: [], responseMessages: [answer] });
  expect(await recorded(memory)).toEqual(["user: Hello", "assistant: Good morning."]);
});

test("refuses what it does not know, and a memory without a question", async () => {
  await expect(steps(memoryOf(), { models: "m" } as never)).rejects.toThrow("models");
  const empty = await steps(memoryOf()).catch((error: unknown) => error);
  expect(isTurnkeepError(empty, "NOT_FOUND")).toBe(true);
});
