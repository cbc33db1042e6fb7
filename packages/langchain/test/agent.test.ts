import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
} from "@langchain/core/messages";
import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { Command } from "@langchain/langgraph";
import { createChatMemories, entry, inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import { AIMessage, createAgent, createMiddleware, ToolMessage } from "langchain";
import { expect, it } from "vitest";
import { langchainFormat, TurnkeepChatMessageHistory } from "../src/index.ts";
import { turnkeepMiddleware } from "../src/middleware.ts";
import { agentOf, calling, memoriesOf, modelOf, recorded, thread, told, toolOf } from "./agents.ts";

it("remembers from run to run", async () => {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(new AIMessage("Hello, Ann."), new AIMessage("Ann."));
  const agent = agentOf(memories, { model, systemPrompt: "You are brief." });
  await agent.invoke({ messages: "I am Ann." }, thread());
  const { messages } = await agent.invoke({ messages: "Who am I?" }, thread());
  expect(prompts().map((prompt) => prompt.map(told))).toEqual([
    ["system: You are brief.", "human: I am Ann."],
    ["system: You are brief.", "human: I am Ann.", "ai: Hello, Ann.", "human: Who am I?"],
  ]);
  expect(messages.map(told)).toEqual(["human: Who am I?", "ai: Ann."]);
  const history = new TurnkeepChatMessageHistory({ memories, sessionId: "chat-1" });
  expect((await history.getMessages()).map(told)).toEqual(await recorded(memories));
  expect(await recorded(memories)).toHaveLength(4);
});

it("stores each step before the next begins", async () => {
  const memories = memoriesOf();
  const seen: string[][] = [];
  const look = async (): Promise<string> => {
    seen.push(await recorded(memories));
    return "seen";
  };
  const { model, prompts } = modelOf(calling("one"), calling("two"), new AIMessage("Done."));
  const agent = agentOf(memories, { model, tools: [toolOf("one", look), toolOf("two", look)] });
  await agent.invoke({ messages: "Do it." }, thread());
  expect(seen).toEqual([
    ["human: Do it.", "ai: [one]"],
    ["human: Do it.", "ai: [one]", "tool: seen", "ai: [two]"],
  ]);
  expect(prompts()).toHaveLength(3);
  expect(await recorded(memories)).toEqual([...(seen[1] ?? []), "tool: seen", "ai: Done."]);
});

it("stores each result of several calls as soon as its tool is done", async () => {
  const memories = memoriesOf();
  let seen: string[] = [];
  const late = async (): Promise<string> => {
    while (!(await recorded(memories)).includes("tool: early done")) await new Promise(setImmediate);
    seen = await recorded(memories);
    return "late done";
  };
  const { model } = modelOf(calling("late", "early"), new AIMessage("Done."));
  await agentOf(memories, { model, tools: [toolOf("early"), toolOf("late", late)] }).invoke(
    { messages: "Do it." },
    thread(),
  );
  expect(seen).toEqual(["human: Do it.", "ai: [late early]", "tool: early done"]);
  expect((await recorded(memories)).slice(3)).toEqual(["tool: late done", "ai: Done."]);
});

it.each([
  ["an object", (messages: ToolMessage[]) => ({ messages })],
  ["a list", (messages: ToolMessage[]): [string, unknown][] => [["messages", messages]]],
])(
  "stores the result of a tool that answers by a command, with %s, beside another tool",
  async (_, update) => {
    const memories = memoriesOf();
    const answer = calling("first", "second");
    const id = answer.tool_calls?.[0]?.id ?? "";
    const noted = () =>
      new Command({ update: update([new ToolMessage({ content: "noted", tool_call_id: id })]) });
    let seen: string[] = [];
    const second = async (): Promise<string> => {
      for (let look = 0; look < 100 && seen.length < 3; look++) {
        seen = await recorded(memories);
        await new Promise(setImmediate);
      }
      return "second done";
    };
    const { model, prompts } = modelOf(answer, new AIMessage("Done."));
    const tools = [toolOf("first", noted), toolOf("second", second)];
    await agentOf(memories, { model, tools }).invoke({ messages: "Do it." }, thread());
    expect(seen).toEqual(["human: Do it.", "ai: [first second]", "tool: noted"]);
    expect(await recorded(memories)).toEqual([...seen, "tool: second done", "ai: Done."]);
    expect(prompts()[1]?.map(told)).toEqual([...seen, "tool: second done"]);
  },
);

it("shows whole steps and the question, where a window would cut a call from its result", async () => {
  const memories = memoriesOf({ maxMessages: 4 });
  const { model, prompts } = modelOf(calling("one"), calling("one"), calling("one"), new AIMessage("Done."));
  const agent = agentOf(memories, { model, tools: [toolOf("one")] });
  await agent.invoke({ messages: "Do it." }, thread());
  const types = prompts().map((prompt) => prompt.map(({ type }) => type).join(" "));
  expect(types).toEqual(["human", "human ai tool", "human ai tool", "human ai tool"]);
  expect(await recorded(memories)).toHaveLength(8);
});

it("tells the model of a tool that failed, as LangChain does without a middleware", async () => {
  const run = async (withMemory: boolean): Promise<string[]> => {
    const { model } = modelOf(calling("bad"), new AIMessage("Sorry."));
    const bad = toolOf("bad", () => {
      throw new Error("broken");
    });
    const middleware = withMemory ? [turnkeepMiddleware({ memories: memoriesOf() })] : [];
    const agent = createAgent({ model, tools: [bad], middleware } as never);
    const { messages } = await agent.invoke({ messages: "Do it." }, thread());
    return messages.map((message: BaseMessage) => told(message));
  };
  expect(await run(true)).toEqual(await run(false));
});

it("gives models messages that they may write into", async () => {
  const memories = memoriesOf();
  const { model } = modelOf((messages) => {
    for (const message of messages) message.additional_kwargs.seen = true;
    return new AIMessage("Yes.");
  });
  await agentOf(memories, { model }).invoke({ messages: "Good?" }, thread());
  const { messages } = await memories.get("chat-1").history();
  expect(messages[0]?.message.additional_kwargs).toEqual({});
});

it("stores an answer as another middleware leaves it at the end", async () => {
  const memories = memoriesOf();
  const { model } = modelOf(new AIMessage("It is 4711."));
  const hiding = createMiddleware({
    name: "HidingAnswers",
    afterModel: ({ messages }) => ({
      messages: [new AIMessage({ content: "It is hidden.", id: messages.at(-1)?.id as string })],
    }),
  });
  await agentOf(memories, { model, last: [hiding] }).invoke({ messages: "What is it?" }, thread());
  expect(await recorded(memories)).toEqual(["human: What is it?", "ai: It is hidden."]);
});

it("stores a run that failed as far as it came", async () => {
  const memories = memoriesOf();
  const { model } = modelOf(calling("one"), () => {
    throw new Error("The provider is away.");
  });
  const agent = agentOf(memories, { model, tools: [toolOf("one")] });
  await expect(agent.invoke({ messages: "Do it." }, thread())).rejects.toThrow("away");
  expect(await recorded(memories)).toEqual(["human: Do it.", "ai: [one]", "tool: one done"]);
});

it("stores a question once that is sent again under its id", async () => {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(() => new Error("away") as never, new AIMessage("Yes."));
  const agent = agentOf(memories, { model });
  const messages = () => [new HumanMessage({ content: "One?", id: "request-17" })];
  await expect(agent.invoke({ messages: messages() }, thread())).rejects.toThrow("away");
  await agent.invoke({ messages: messages() }, thread());
  expect(prompts()).toHaveLength(2);
  expect(await recorded(memories)).toEqual(["human: One?", "ai: Yes."]);
});

it("answers a question anew that is sent again under its id, with what its tools have done", async () => {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(calling("one"), new AIMessage("Yes."), new AIMessage("Yes again."));
  const agent = agentOf(memories, { model, tools: [toolOf("one")] });
  const ask = () =>
    agent.invoke({ messages: [new HumanMessage({ content: "One?", id: "request-17" })] }, thread());
  await ask();
  await ask();
  expect(prompts().at(-1)?.map(told)).toEqual(["human: One?", "ai: [one]", "tool: one done"]);
  expect(await recorded(memories)).toEqual(["human: One?", "ai: [one]", "tool: one done", "ai: Yes again."]);
});

it.each([
  ["a system message", () => [new SystemMessage("Be kind.")]],
  ["a past", () => [new HumanMessage({ content: "Zero?", id: "q-0" }), new AIMessage("No.")]],
])("answers a question anew that is sent again under its id behind %s", async (_, before) => {
  const input = () => [...before(), new HumanMessage({ content: "One?", id: "q-1" })];
  const same = input();
  for (const [first, again] of [
    [input(), input()],
    [same, same],
  ] as const) {
    const memories = memoriesOf();
    const { model, prompts } = modelOf(new AIMessage("Yes."), new AIMessage("Yes again."));
    const agent = agentOf(memories, { model });
    await agent.invoke({ messages: first }, thread());
    await agent.invoke({ messages: again }, thread());
    const said = input().map(told);
    expect(prompts().map((prompt) => prompt.map(told))).toEqual([said, said]);
    expect(await recorded(memories)).toEqual([...said, "ai: Yes again."]);
  }
});

it("shows a call as interrupted where a question is sent again whose tool was cut off", async () => {
  const memories = memoriesOf();
  const question = () => new HumanMessage({ content: "Do it.", id: "request-17" });
  await memories.get("chat-1").add(entry(question(), { id: "request-17" }), calling("one"));
  const { model, prompts } = modelOf(new AIMessage("It was cut off."));
  await agentOf(memories, { model, tools: [toolOf("one")] }).invoke({ messages: [question()] }, thread());
  const said = ["human: Do it.", "ai: [one]"];
  expect(prompts()[0]?.map(told)).toEqual([...said, expect.stringMatching(/^tool: .*interrupted/)]);
  expect(await recorded(memories)).toEqual([...said, "ai: It was cut off."]);
});

it("does not store again what a client hands over, though it has left the window", async () => {
  const memories = memoriesOf({ maxMessages: 2 });
  const { model } = modelOf(...["One.", "Two.", "Three."].map((text) => new AIMessage(text)));
  const agent = agentOf(memories, { model });
  const past: BaseMessage[] = [];
  for (const question of ["One?", "Two?", "Three?"]) {
    const { messages } = await agent.invoke({ messages: [...past, new HumanMessage(question)] }, thread());
    past.push(new HumanMessage(question), new AIMessage(messages.at(-1)?.text ?? ""));
  }
  expect(await recorded(memories)).toEqual(past.map(told));
});

it("does not double what a client hands over without the calls, however many they were", async () => {
  const memories = memoriesOf();
  const answers = ["One.", "Two."].map((text) => {
    const question = new HumanMessage(text.replace(".", "?"));
    return [question, ...Array.from({ length: 60 }, () => new AIMessage("Step.")), new AIMessage(text)];
  });
  await memories.get("chat-1").add(...answers.flat());
  const { model } = modelOf(new AIMessage("Three."));
  const past = ["One?", "One.", "Two?", "Two."].map((text) =>
    text.endsWith("?") ? new HumanMessage(text) : new AIMessage(text),
  );
  await agentOf(memories, { model }).invoke({ messages: [...past, new HumanMessage("Three?")] }, thread());
  const said = await recorded(memories);
  expect(said).toHaveLength(2 * 62 + 2);
  expect(said.slice(-2)).toEqual(["human: Three?", "ai: Three."]);
});

it("stores the same messages in each conversation that they are said in, and again once it was deleted", async () => {
  const store = inMemoryStore();
  const memories = memoriesOf(undefined, store);
  const { model, prompts } = modelOf(...Array.from({ length: 9 }, () => new AIMessage("Yes.")));
  const agent = agentOf(memories, { model });
  const examples = [new HumanMessage("Good?"), new AIMessage("Good.")];
  const past = examples.map(told);
  const ask = (text: string, id = "chat-1") =>
    agent.invoke({ messages: [...examples, new HumanMessage(text)] }, thread(id));
  for (const id of ["chat-1", "chat-2"]) {
    await ask("One?", id);
    expect(prompts().at(-1)?.map(told)).toEqual([...past, "human: One?"]);
    await ask("Two?", id);
    expect(await recorded(memories, id)).toEqual([
      ...past,
      "human: One?",
      "ai: Yes.",
      "human: Two?",
      "ai: Yes.",
    ]);
  }
  // However long ago they were said.
  await memories.get("chat-2").add(...Array.from({ length: 120 }, () => new HumanMessage("Go on.")));
  await ask("Three?", "chat-2");
  expect((await recorded(memories, "chat-2")).slice(6 + 120)).toEqual(["human: Three?", "ai: Yes."]);
  await memories.get("chat-1").clear();
  await ask("Three?");
  expect(await recorded(memories)).toEqual([...past, "human: Three?", "ai: Yes."]);
  // Another process deletes it, and it begins anew before they are said again.
  const others = memoriesOf(undefined, store);
  await others.get("chat-1").clear();
  await others.get("chat-1").add(new HumanMessage("Hello"));
  await ask("Four?");
  expect(await recorded(others)).toEqual(["human: Hello", ...past, "human: Four?", "ai: Yes."]);
  // And it begins anew with a question alone.
  await memories.get("chat-1").clear();
  await agent.invoke({ messages: "Hello" }, thread());
  await ask("Five?");
  expect(await recorded(memories)).toEqual(["human: Hello", "ai: Yes.", ...past, "human: Five?", "ai: Yes."]);
});

it("answers the same question in each conversation, anew if it is sent again, and once that was deleted", async () => {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(...["1", "2", "3", "4", "5"].map((text) => new AIMessage(text)));
  const agent = agentOf(memories, { model });
  const question = new HumanMessage({ content: "One?", id: "request-17" });
  const ask = (id: string) => agent.invoke({ messages: [question] }, thread(id));
  await ask("chat-1");
  await ask("chat-2");
  expect(await recorded(memories, "chat-1")).toEqual(["human: One?", "ai: 1"]);
  expect(await recorded(memories, "chat-2")).toEqual(["human: One?", "ai: 2"]);
  await ask("chat-1");
  expect(await recorded(memories, "chat-1")).toEqual(["human: One?", "ai: 3"]);
  await memories.get("chat-1").clear();
  await ask("chat-1");
  expect(await recorded(memories, "chat-1")).toEqual(["human: One?", "ai: 4"]);
  expect(prompts().map((prompt) => prompt.map(told))).toEqual(
    Array.from({ length: 4 }, () => ["human: One?"]),
  );
});

it("keeps what a run is bound to, though its memory is not loaded any more between two steps", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const store = inMemoryStore();
  const memories = createChatMemories({ store, format: langchainFormat, maxLoaded: 1 });
  const deleting = createMiddleware({
    name: "Deleting",
    afterModel: async () => {
      await memoriesOf(undefined, store).get("chat-1").clear();
      memories.get("chat-2");
      await new Promise(setImmediate);
      collectGarbage();
    },
  });
  const { model } = modelOf(calling("one"), new AIMessage("Done."));
  const agent = agentOf(memories, { model, tools: [toolOf("one")], last: [deleting] });
  const error = await agent.invoke({ messages: "Do it." }, thread()).catch((error: unknown) => error);
  expect(isTurnkeepError((error as Error).cause ?? error, "NOT_FOUND")).toBe(true);
  expect(await recorded(memories)).toEqual([]);
});

it("stores once what two runs at once share", async () => {
  const memories = memoriesOf();
  const { model } = modelOf(...Array.from({ length: 4 }, () => new AIMessage("Yes.")));
  const agent = agentOf(memories, { model });
  const examples = [new HumanMessage("Good?"), new AIMessage("Good.")];
  const asked = ["One?", "Two?"].map((text) => ({ messages: [...examples, new HumanMessage(text)] }));
  await Promise.all(asked.map((input) => agent.invoke(input, thread())));
  expect([...(await recorded(memories))].sort()).toEqual(
    ["human: Good?", "ai: Good.", "human: One?", "human: Two?", "ai: Yes.", "ai: Yes."].sort(),
  );
  await Promise.all(asked.map((input, at) => agent.invoke(input, thread(`chat-${at + 2}`))));
  for (const [at, id] of ["chat-2", "chat-3"].entries()) {
    expect(await recorded(memories, id)).toEqual([
      "human: Good?",
      "ai: Good.",
      ["human: One?", "human: Two?"][at],
      "ai: Yes.",
    ]);
  }
});

it("does not store again the examples that each run begins with", async () => {
  const memories = memoriesOf();
  const { model } = modelOf(...["One.", "Two.", "Three."].map((text) => new AIMessage(text)));
  const agent = agentOf(memories, { model });
  const said = ["human: Good?", "ai: Good."];
  for (const text of ["One", "Two", "Three"]) {
    const examples = [new HumanMessage("Good?"), new AIMessage("Good.")];
    await agent.invoke({ messages: [...examples, new HumanMessage(`${text}?`)] }, thread());
    said.push(`human: ${text}?`, `ai: ${text}.`);
  }
  expect(await recorded(memories)).toEqual(said);
});

it("stores once a system message with which each run begins, and another in its place", async () => {
  const memories = memoriesOf();
  const { model } = modelOf(...["1", "2", "3", "4"].map((text) => new AIMessage(text)));
  const agent = agentOf(memories, { model });
  const ask = (system: string, text: string) =>
    agent.invoke({ messages: [new SystemMessage(system), new HumanMessage(text)] }, thread());
  for (const text of ["One?", "Two?"]) await ask("Be kind.", text);
  await memories.get("chat-1").add(...Array.from({ length: 120 }, () => new HumanMessage("Go on.")));
  await ask("Be kind.", "Three?");
  const { messages } = await memories.get("chat-1").history({ limit: 1000 });
  expect(messages.map(({ message }) => told(message)).filter((line) => line !== "human: Go on.")).toEqual([
    "system: Be kind.",
    ...["human: One?", "ai: 1", "human: Two?", "ai: 2", "human: Three?", "ai: 3"],
  ]);
  await ask("Be brief.", "Four?");
  const systems = (await recorded(memories)).filter((line) => line.startsWith("system"));
  expect(systems).toEqual(["system: Be brief."]);
});

it.each([
  ["a system message", () => [new SystemMessage("Be kind.")]],
  ["examples", () => [new HumanMessage("For example?"), new AIMessage("So.")]],
])(
  "stores the same words once more behind an answer and %s, where no id says that they are the same",
  async (_, front) => {
    const memories = memoriesOf();
    const { model } = modelOf(new AIMessage("1"), new AIMessage("2"));
    const agent = agentOf(memories, { model });
    const ask = () => agent.invoke({ messages: [...front(), new HumanMessage("Go on.")] }, thread());
    await ask();
    await ask();
    expect((await recorded(memories)).slice(front().length)).toEqual([
      ...["human: Go on.", "ai: 1"],
      ...["human: Go on.", "ai: 2"],
    ]);
  },
);

it("takes the same words for the question that a run which ended without an answer has stored", async () => {
  const memories = memoriesOf();
  await memories.get("chat-1").add(new SystemMessage("Be kind."), new HumanMessage("Go on."));
  const { model } = modelOf(new AIMessage("1"));
  const messages = [new SystemMessage("Be kind."), new HumanMessage("Go on.")];
  await agentOf(memories, { model }).invoke({ messages }, thread());
  expect(await recorded(memories)).toEqual(["system: Be kind.", "human: Go on.", "ai: 1"]);
});

it("shows the last of several system messages with which each run begins", async () => {
  const { model, prompts } = modelOf(new AIMessage("1"), new AIMessage("2"));
  const agent = agentOf(memoriesOf(), { model });
  for (const text of ["One?", "Two?"]) {
    const systems = ["Be kind.", "Be brief."].map((said) => new SystemMessage(said));
    await agent.invoke({ messages: [...systems, new HumanMessage(text)] }, thread());
  }
  for (const prompt of prompts()) {
    expect(prompt.filter(({ type }) => type === "system").map(told)).toEqual(["system: Be brief."]);
  }
});

it("streams, and stores the whole answer", async () => {
  const memories = memoriesOf();
  const model = new FakeStreamingChatModel({
    sleep: 0,
    chunks: ["A ", "fjord."].map((content) => new AIMessageChunk({ content })),
  });
  const agent = agentOf(memories, { model });
  let text = "";
  const stream = await agent.stream({ messages: "What?" }, { ...thread(), streamMode: "messages" });
  for await (const [chunk] of stream as AsyncIterable<[BaseMessage]>) text += chunk.text;
  expect(text).toBe("A fjord.");
  expect(await recorded(memories)).toEqual(["human: What?", "ai: A fjord."]);
  const { messages } = await memories.get("chat-1").history();
  expect(messages[1]?.message).not.toBeInstanceOf(AIMessageChunk);
});

it("shows what another middleware adds to the request, and does not store it", async () => {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(new AIMessage("Yes."));
  const adding = createMiddleware({
    name: "Adding",
    wrapModelCall: (request, handler) =>
      handler({ ...request, messages: [...request.messages, new HumanMessage("It is Monday.")] }),
  });
  await agentOf(memories, { model, first: [adding] }).invoke({ messages: "Is it?" }, thread());
  expect(prompts()[0]?.map(told)).toEqual(["human: Is it?", "human: It is Monday."]);
  expect(await recorded(memories)).toEqual(["human: Is it?", "ai: Yes."]);
});

it("keeps what another middleware has changed, and its record where one took messages away", async () => {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(new AIMessage("I know 4711."), new AIMessage("Yes."));
  const hiding = createMiddleware({
    name: "Hiding",
    beforeModel: ({ messages }) => ({
      messages: messages.map((message) =>
        message.type === "human" && message.text.includes("4711")
          ? new HumanMessage({ content: "My code is hidden.", id: message.id as string })
          : message,
      ),
    }),
    afterAgent: ({ messages }) => ({ messages: [new RemoveMessage({ id: messages[0]?.id as string })] }),
  });
  const agent = createAgent({ model, middleware: [turnkeepMiddleware({ memories }), hiding] });
  await agent.invoke({ messages: "My code is 4711." }, thread());
  await agent.invoke({ messages: [new SystemMessage("Be kind."), new HumanMessage("Good?")] }, thread());
  expect(prompts()[0]?.map(told)).toEqual(["human: My code is hidden."]);
  expect(await recorded(memories)).toEqual([
    "human: My code is hidden.",
    "ai: I know 4711.",
    "system: Be kind.",
    "human: Good?",
    "ai: Yes.",
  ]);
});

it("keeps what another middleware has changed of what has left the window", async () => {
  const memories = memoriesOf({ maxMessages: 3 });
  const { model } = modelOf(calling("one"), calling("two"), calling("three"), new AIMessage("Done."));
  const hiding = createMiddleware({
    name: "Hiding",
    beforeModel: ({ messages: [, , result, ...later] }) => {
      if (later.length < 4 || result === undefined) return;
      const { id, tool_call_id } = result as ToolMessage;
      return { messages: [new ToolMessage({ id: id as string, tool_call_id, content: "hidden" })] };
    },
  });
  const tools = ["one", "two", "three"].map((name) => toolOf(name));
  await agentOf(memories, { model, tools, last: [hiding] }).invoke({ messages: "Do it." }, thread());
  expect(await recorded(memories)).toEqual([
    "human: Do it.",
    "ai: [one]",
    "tool: hidden",
    "ai: [two]",
    "tool: two done",
    "ai: [three]",
    "tool: three done",
    "ai: Done.",
  ]);
});

it("stores nothing more once the conversation was deleted or the question taken back", async () => {
  for (const take of ["clear", "rewind"] as const) {
    const memories = memoriesOf();
    const memory = memories.get("chat-1");
    const taking = async (): Promise<string> => {
      const { messages } = await memory.history();
      await (take === "clear" ? memory.clear() : memory.rewind(messages[0]?.id ?? ""));
      return "taken";
    };
    const { model } = modelOf(calling("one"), new AIMessage("Done."));
    const agent = agentOf(memories, { model, tools: [toolOf("one", taking)] });
    const error = await agent.invoke({ messages: "Do it." }, thread()).catch((error: unknown) => error);
    expect(isTurnkeepError((error as Error).cause ?? error, "NOT_FOUND")).toBe(true);
    expect(await recorded(memories)).toEqual([]);
  }
});

it("does not begin a conversation anew with a change, where it is deleted while the record is read", async () => {
  const store = inMemoryStore();
  const others = memoriesOf(undefined, store);
  const getHistory: typeof store.getHistory = async (...asked) => {
    const page = await store.getHistory(...asked);
    await others.get("chat-1").clear();
    return page;
  };
  const memories = memoriesOf(undefined, { ...store, getHistory });
  const changing = createMiddleware({
    name: "Changing",
    beforeModel: ({ messages }) => ({
      messages: [new HumanMessage({ content: "Hidden", id: messages[0]?.id as string })],
    }),
  });
  const { model } = modelOf(new AIMessage("Never."));
  const agent = agentOf(memories, { model, last: [changing] });
  const error = await agent
    .invoke({ messages: "My code is 4711." }, thread())
    .catch((error: unknown) => error);
  expect(isTurnkeepError((error as Error).cause ?? error, "NOT_FOUND")).toBe(true);
  expect((await others.list()).memories).toEqual([]);
});

it("stores once what another middleware adds before several tools run", async () => {
  const memories = memoriesOf();
  const { model } = modelOf(calling("one", "two", "three"), new AIMessage("Done."));
  const answering = createMiddleware({
    name: "Answering",
    afterModel: ({ messages }) => {
      const call = (messages.at(-1) as AIMessage).tool_calls?.[0];
      if (call === undefined) return;
      return { messages: [new ToolMessage({ content: "known", tool_call_id: call.id ?? "" })] };
    },
  });
  const tools = ["one", "two", "three"].map((name) => toolOf(name));
  await agentOf(memories, { model, tools, last: [answering] }).invoke({ messages: "Do it." }, thread());
  const said = await recorded(memories);
  expect(said.filter((line) => line.startsWith("tool")).sort()).toEqual([
    "tool: known",
    "tool: three done",
    "tool: two done",
  ]);
});

it("stores what another middleware answers in place of a tool", async () => {
  const memories = memoriesOf();
  const { model } = modelOf(calling("one"), new AIMessage("Done."));
  const direct = createMiddleware({
    name: "Direct",
    wrapToolCall: async ({ toolCall }) =>
      new ToolMessage({ content: "cached", tool_call_id: toolCall.id ?? "", name: toolCall.name }),
  });
  const agent = createAgent({
    model,
    tools: [toolOf("one")],
    middleware: [turnkeepMiddleware({ memories }), direct],
  });
  await agent.invoke({ messages: "Do it." }, thread());
  expect(await recorded(memories)).toEqual(["human: Do it.", "ai: [one]", "tool: cached", "ai: Done."]);
});

it("stores what a middleware before it answers in place of a tool, beside another tool", async () => {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(calling("first", "second"), new AIMessage("Done."));
  const direct = createMiddleware({
    name: "Direct",
    wrapToolCall: ({ toolCall, ...request }, handler) => {
      if (toolCall.name !== "first") return handler({ toolCall, ...request });
      return new ToolMessage({ content: "cached", tool_call_id: toolCall.id ?? "", name: toolCall.name });
    },
  });
  const tools = [toolOf("first"), toolOf("second")];
  await agentOf(memories, { model, tools, first: [direct] }).invoke({ messages: "Do it." }, thread());
  const said = ["human: Do it.", "ai: [first second]", "tool: second done", "tool: cached"];
  expect(await recorded(memories)).toEqual([...said, "ai: Done."]);
  expect(prompts()[1]?.map(told)).toEqual(said);
});
