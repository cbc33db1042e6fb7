import { Command, MemorySaver } from "@langchain/langgraph";
import { AIMessage, createAgent, humanInTheLoopMiddleware } from "langchain";
import { expect, it } from "vitest";
import { turnkeepMiddleware } from "../src/middleware.ts";
import { calling, memoriesOf, modelOf, recorded, thread, toolOf } from "./agents.ts";

type Decision =
  | { type: "approve" }
  | { type: "reject"; message: string }
  | { type: "edit"; editedAction: { name: string; args: object } };

/** A run whose call waits for the user, in two agents: each stands for a process. */
async function decided(decision: Decision) {
  const memories = memoriesOf();
  const checkpointer = new MemorySaver();
  const { model, prompts } = modelOf(calling("pay"), new AIMessage("Done."), new AIMessage("Yes."));
  const seen: string[][] = [];
  const look = async (): Promise<string> => {
    seen.push(await recorded(memories));
    return "done";
  };
  const agent = () =>
    createAgent({
      model,
      checkpointer,
      tools: [toolOf("pay", look), toolOf("ask", look)],
      middleware: [
        turnkeepMiddleware({ memories }),
        humanInTheLoopMiddleware({ interruptOn: { pay: true } }),
      ],
    });
  await agent().invoke({ messages: "Pay the bill." }, thread());
  expect(await recorded(memories)).toEqual(["human: Pay the bill.", "ai: [pay]"]);
  await agent().invoke(new Command({ resume: { decisions: [decision] } }), thread());
  await agent().invoke({ messages: "All well?" }, thread());
  expect(prompts()).toHaveLength(3);
  return { seen, said: await recorded(memories) };
}

it("goes on with an approval, in another process", async () => {
  const { seen, said } = await decided({ type: "approve" });
  expect(seen).toEqual([["human: Pay the bill.", "ai: [pay]"]]);
  expect(said).toEqual([
    "human: Pay the bill.",
    "ai: [pay]",
    "tool: done",
    "ai: Done.",
    "human: All well?",
    "ai: Yes.",
  ]);
});

it("keeps a rejection", async () => {
  const { seen, said } = await decided({ type: "reject", message: "Too dear." });
  expect(seen).toEqual([]);
  expect(said.slice(0, 4)).toEqual(["human: Pay the bill.", "ai: [pay]", "tool: Too dear.", "ai: Done."]);
  expect(said).toHaveLength(6);
});

it("keeps a call as the user edited it, before its tool runs", async () => {
  const { seen, said } = await decided({ type: "edit", editedAction: { name: "ask", args: {} } });
  expect(seen).toEqual([["human: Pay the bill.", "ai: [ask]"]]);
  expect(said.slice(0, 4)).toEqual(["human: Pay the bill.", "ai: [ask]", "tool: done", "ai: Done."]);
  expect(said).toHaveLength(6);
});
