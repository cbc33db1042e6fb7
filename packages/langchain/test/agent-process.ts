import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { createChatMemories } from "@turnkeep/core";
import { openai, validate } from "@turnkeep/formats/profiles";
import { postgresStore } from "@turnkeep/store-postgres";
import { AIMessage, createAgent, tool } from "langchain";
import { z } from "zod";
import { langchainFormat } from "../src/index.ts";
import { turnkeepMiddleware } from "../src/middleware.ts";

/** What one process of the tests does: these questions in a thread, or until it kills itself in its second tool. */
export interface AgentTask {
  readonly url: string;
  readonly questions: readonly string[];
  /** Whether both tools are called by one answer. */
  readonly atOnce: boolean;
  readonly dies: boolean;
}

const { url, questions, atOnce, dies } = JSON.parse(process.argv[2] as string) as AgentTask;
const store = postgresStore({ url });
const memories = createChatMemories({ store, format: langchainFormat, window: { maxMessages: 500 } });
const memory = memories.get("chat-1", { owner: "ann" });
const prompts: string[][] = [];

const hasResults = async (): Promise<boolean> => {
  const { messages } = await memory.history();
  return messages.some(({ message }) => message.type === "tool");
};

const first = tool(() => "first done", { name: "first", description: "first", schema: z.object({}) });
const second = tool(
  async () => {
    if (!dies) return "second done";
    while (!(await hasResults())) await new Promise((resolve) => setTimeout(resolve, 5));
    process.kill(process.pid, "SIGKILL");
    return new Promise<string>(() => undefined);
  },
  { name: "second", description: "second", schema: z.object({}) },
);

const calling = (...names: string[]): AIMessage =>
  new AIMessage({
    content: "",
    tool_calls: names.map((name) => ({ id: crypto.randomUUID(), name, args: {}, type: "tool_call" })),
  });

/** By how often it was asked: another process's run may stand between the messages of this one. */
function reply(messages: BaseMessage[]): BaseMessage {
  const step = prompts.length % 3;
  const [refused] = validate(messages, openai, { format: langchainFormat });
  if (refused !== undefined) throw new Error(`A provider refuses the prompt by its rule ${refused.rule}.`);
  prompts.push(messages.map(({ type, text }) => `${type}: ${text}`));
  if (questions[0] === "Go on") {
    const results = messages.filter(
      (message) => ToolMessage.isInstance(message) && message.status !== "error",
    );
    return new AIMessage(`Done, with ${results.map(({ text }) => text).join(" and ")}.`);
  }
  if (step === 0) return atOnce ? calling("first", "second") : calling("first");
  return step === 1 ? calling("second") : new AIMessage("Done.");
}

const model = fakeModel();
for (let request = 0; request < 3 * questions.length; request++) model.respond(reply);
const agent = createAgent({
  model,
  tools: [first, second],
  middleware: [turnkeepMiddleware({ memories, owner: "ann" })],
});
for (const question of questions) {
  await agent.invoke({ messages: question }, { configurable: { thread_id: "chat-1" } });
}
await store.close();
process.stdout.write(JSON.stringify(prompts));
