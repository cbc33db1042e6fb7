import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts";
import { RunnableWithMessageHistory } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { type ChatMemories, createChatMemories, inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import { expect, it } from "vitest";
import { langchainFormat, TurnkeepChatMessageHistory } from "../src/index.ts";

const memoriesOf = (maxMessages = 100) =>
  createChatMemories({ store: inMemoryStore(), format: langchainFormat, window: { maxMessages } });

const historyOf = (memories = memoriesOf(), sessionId = "chat-1") =>
  new TurnkeepChatMessageHistory({ memories, sessionId });

// What LangChain's own tests of histories ask of each.
it("is empty, then holds what was added, as it was", async () => {
  const history = historyOf();
  expect(await history.getMessages()).toStrictEqual([]);
  await history.addUserMessage("Who is the best vocalist?");
  await history.addAIMessage("Ozzy Osbourne");
  expect(await history.getMessages()).toEqual([
    new HumanMessage("Who is the best vocalist?"),
    new AIMessage("Ozzy Osbourne"),
  ]);
});

it("adds messages of all kinds at once, in their order, and clears", async () => {
  const history = historyOf();
  const messages = [
    new SystemMessage("You are brief."),
    new HumanMessage("Weather?"),
    new AIMessage({ content: "", tool_calls: [{ id: "1", name: "weather", args: {}, type: "tool_call" }] }),
    new ToolMessage({ content: "4 °C", tool_call_id: "1" }),
  ];
  await history.addMessages(messages);
  await history.addMessage(new AIMessage("4 °C."));
  expect((await history.getMessages()).map(({ type }) => type)).toEqual([
    "system",
    "human",
    "ai",
    "tool",
    "ai",
  ]);
  expect((await history.getMessages()).slice(0, 4)).toEqual(messages);
  await history.clear();
  expect(await history.getMessages()).toEqual([]);
});

it("adds all or none", async () => {
  const history = historyOf();
  const bad = new ToolMessage({ content: "", tool_call_id: "" });
  await expect(history.addMessages([new HumanMessage("One"), bad])).rejects.toThrow("tool_call_id");
  expect(await history.getMessages()).toEqual([]);
});

it("keeps sessions apart, and hands out messages that are the caller's", async () => {
  const memories = memoriesOf();
  const history = historyOf(memories);
  await history.addUserMessage("Hello");
  const [message] = await history.getMessages();
  (message as HumanMessage).content = "Changed";
  (message as HumanMessage).additional_kwargs.changed = true;
  expect(await historyOf(memories).getMessages()).toEqual([new HumanMessage("Hello")]);
  expect(await historyOf(memories, "chat-2").getMessages()).toEqual([]);
});

it("is a record, whatever the window shows", async () => {
  const history = historyOf(memoriesOf(3));
  for (let n = 0; n < 250; n++)
    await history.addMessages([new HumanMessage(`${n}?`), new AIMessage(`${n}.`)]);
  const messages = await history.getMessages();
  expect(messages).toHaveLength(500);
  expect(messages[1]?.content).toBe("0.");
  expect(await history.memory.messages()).toHaveLength(3);
});

it("leaves out what was taken back, and what a summary stands for is still told", async () => {
  const history = historyOf();
  await history.addMessages([new HumanMessage("One"), new AIMessage("Two")]);
  const [id] = await history.memory.add(new HumanMessage("Three"));
  await history.memory.rewind(id);
  await history.memory.add(new HumanMessage("Four"));
  const { messages } = await history.memory.history({ states: ["live"] });
  await history.memory.compact({
    through: messages[1]?.id ?? "",
    replacement: new HumanMessage("A summary"),
  });
  expect((await history.getMessages()).map(({ content }) => content)).toEqual(["One", "Two", "Four"]);
});

it("refuses another owner's conversation, a forgotten owner, and memories of another format", async () => {
  const memories = memoriesOf();
  const ann = new TurnkeepChatMessageHistory({ memories, sessionId: "chat-1", owner: "ann" });
  await ann.addUserMessage("Hello");
  const bob = new TurnkeepChatMessageHistory({ memories, sessionId: "chat-1", owner: "bob" });
  for (const call of [bob.getMessages(), bob.addUserMessage("Mine"), bob.clear()]) {
    const error = await call.catch((error: unknown) => error);
    expect(isTurnkeepError(error, "OWNER_MISMATCH")).toBe(true);
  }
  expect(await ann.getMessages()).toHaveLength(1);
  const forgotten = { memories, sessionId: "chat-1", owner: undefined as never };
  expect(() => new TurnkeepChatMessageHistory(forgotten)).toThrow(/owner/);
  const others = createChatMemories({ store: inMemoryStore() }) as unknown as ChatMemories<never>;
  expect(() => new TurnkeepChatMessageHistory({ memories: others, sessionId: "chat-1" })).toThrow(
    /langchainFormat/,
  );
});

it("serves RunnableWithMessageHistory, whose histories are records", async () => {
  const memories = memoriesOf(2);
  const chain = new RunnableWithMessageHistory({
    runnable: new FakeListChatModel({ responses: ["First.", "Second.", "Third."] }),
    getMessageHistory: (sessionId) => historyOf(memories, sessionId),
  });
  const config = { configurable: { sessionId: "chat-1" } };
  for (const question of ["One?", "Two?", "Three?"]) await chain.invoke([new HumanMessage(question)], config);
  expect((await historyOf(memories).getMessages()).map(({ content }) => content)).toEqual([
    "One?",
    "First.",
    "Two?",
    "Second.",
    "Three?",
    "Third.",
  ]);
});

it("loses nothing of two runs at once where the history has a key of its own", async () => {
  const memories = memoriesOf();
  const prompt = ChatPromptTemplate.fromMessages([
    ["system", "You are brief."],
    new MessagesPlaceholder("history"),
    ["human", "{input}"],
  ]);
  const chain = new RunnableWithMessageHistory({
    runnable: prompt.pipe(new FakeListChatModel({ responses: ["Yes."], sleep: 5 })),
    getMessageHistory: (sessionId) => historyOf(memories, sessionId),
    inputMessagesKey: "input",
    historyMessagesKey: "history",
  });
  const config = { configurable: { sessionId: "chat-1" } };
  await Promise.all(["One?", "Two?", "Three?"].map((input) => chain.invoke({ input }, config)));
  const said = (await historyOf(memories).getMessages()).map(({ content }) => content);
  expect(said.filter((content) => content === "Yes.")).toHaveLength(3);
  expect(said.filter((content) => content !== "Yes.").sort()).toEqual(["One?", "Three?", "Two?"]);
});
