import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { AIMessage, humanInTheLoopMiddleware } from "langchain";
import { expect, it } from "vitest";
import { agentOf, calling, memoriesOf, modelOf, recorded, thread, told, toolOf } from "./agents.ts";

type Decision =
  | { type: "approve" }
  | { type: "reject"; message: string }
  | { type: "edit"; editedAction: { name: string; args: object } };

// Its types do not hold under exactOptionalPropertyTypes.
const asking: unknown = humanInTheLoopMiddleware({ interruptOn: { pay: true } } as never);

/** A run whose calls wait for the user, one for each decision. Each agent stands for a process. */
async function decided(...decisions: Decision[]): Promise<{ seen: string[][]; said: string[] }> {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(
    calling(...decisions.map(() => "pay")),
    new AIMessage("Done."),
    new AIMessage("Yes."),
  );
  const seen: string[][] = [];
  const look = async (): Promise<string> => {
    seen.push(await recorded(memories));
    return "done";
  };
  const tools = [toolOf("pay", look), toolOf("ask", look)];
  const checkpointer = new MemorySaver();
  const agent = () => agentOf(memories, { model, tools, checkpointer, last: [asking] });
  await agent().invoke({ messages: "Pay the bill." }, thread());
  expect(await recorded(memories)).toHaveLength(2);
  await agent().invoke(new Command({ resume: { decisions } }), thread());
  await agent().invoke({ messages: "All well?" }, thread());
  expect(prompts()).toHaveLength(3);
  return { seen, said: await recorded(memories) };
}

const later = ["ai: Done.", "human: All well?", "ai: Yes."];

it("goes on with approvals, in another process", async () => {
  const { seen, said } = await decided({ type: "approve" }, { type: "approve" });
  const asked = ["human: Pay the bill.", "ai: [pay pay]"];
  expect(seen[0]).toEqual(asked);
  expect(said).toEqual([...asked, "tool: done", "tool: done", ...later]);
});

it("lets a tool ask the user itself", async () => {
  const memories = memoriesOf();
  const { model } = modelOf(calling("ask"), new AIMessage("Done."));
  const tools = [toolOf("ask", () => interrupt("How much?"))];
  const checkpointer = new MemorySaver();
  const agent = () => agentOf(memories, { model, tools, checkpointer });
  await agent().invoke({ messages: "Pay." }, thread());
  expect(await recorded(memories)).toEqual(["human: Pay.", "ai: [ask]"]);
  await agent().invoke(new Command({ resume: "50" }), thread());
  expect(await recorded(memories)).toEqual(["human: Pay.", "ai: [ask]", "tool: 50", "ai: Done."]);
});

it("does not take back up what was rewound, though a checkpoint holds it", async () => {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(...["One.", "Two.", "Three."].map((text) => new AIMessage(text)));
  const checkpointer = new MemorySaver();
  const agent = () => agentOf(memories, { model, checkpointer });
  await agent().invoke({ messages: "One?" }, thread());
  await agent().invoke({ messages: "Two?" }, thread());
  const { messages } = await memories.get("chat-1").history();
  await memories.get("chat-1").rewind(messages[2]?.id ?? "");
  await agent().invoke({ messages: "Three?" }, thread());
  expect(prompts().at(-1)).toHaveLength(3);
  expect(await recorded(memories)).toEqual(["human: One?", "ai: One.", "human: Three?", "ai: Three."]);
});

it("answers a question anew that is sent again under its id, though a checkpoint holds the answer", async () => {
  const memories = memoriesOf();
  const { model, prompts } = modelOf(
    new AIMessage("Yes."),
    new AIMessage("Yes again."),
    new AIMessage("Two."),
  );
  const checkpointer = new MemorySaver();
  const ask = (content: string, id: string) =>
    agentOf(memories, { model, checkpointer }).invoke(
      { messages: [new HumanMessage({ content, id })] },
      thread(),
    );
  await ask("One?", "q-1");
  await ask("One?", "q-1");
  expect(await recorded(memories)).toEqual(["human: One?", "ai: Yes again."]);
  await ask("Two?", "q-2");
  const said = ["human: One?", "ai: Yes again.", "human: Two?"];
  expect(prompts().map((prompt) => prompt.map(told))).toEqual([["human: One?"], ["human: One?"], said]);
  expect(await recorded(memories)).toEqual([...said, "ai: Two."]);
});

it.each([
  ["all that was said", (messages: BaseMessage[]) => messages],
  ["the question", (messages: BaseMessage[]) => messages.slice(0, 1)],
])("keeps what each agent of a graph has answered, where the next is given %s", async (what, given) => {
  const memories = memoriesOf();
  const { model } = modelOf(new AIMessage("First."), new AIMessage("Second."));
  const agent = agentOf(memories, { model });
  const node = ({ messages }: { messages: BaseMessage[] }, config: object) =>
    agent.invoke({ messages: given(messages) }, config);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("first", node)
    .addNode("second", node)
    .addEdge(START, "first")
    .addEdge("first", "second")
    .compile({
      checkpointer: new MemorySaver(),
      interruptAfter: what === "the question" ? [] : ["first"],
    });
  await graph.invoke({ messages: [new HumanMessage("One?")] }, thread());
  if (what !== "the question") await graph.invoke(null, thread());
  expect(await recorded(memories)).toEqual(["human: One?", "ai: First.", "ai: Second."]);
});

it("keeps a rejection", async () => {
  const { seen, said } = await decided({ type: "reject", message: "Too dear." });
  expect(seen).toEqual([]);
  expect(said).toEqual(["human: Pay the bill.", "ai: [pay]", "tool: Too dear.", ...later]);
});

it("keeps a call as the user edited it, before its tool runs", async () => {
  const { seen, said } = await decided({ type: "edit", editedAction: { name: "ask", args: {} } });
  expect(seen).toEqual([["human: Pay the bill.", "ai: [ask]"]]);
  expect(said).toEqual(["human: Pay the bill.", "ai: [ask]", "tool: done", ...later]);
});
