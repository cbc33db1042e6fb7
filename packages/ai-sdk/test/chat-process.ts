import { createChatMemories } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { postgresStore } from "@turnkeep/store-postgres";
import { generateText, type ModelMessage, stepCountIs, tool, type UIMessage } from "ai";
import { z } from "zod";
import { chatHandler, steps } from "../src/index.ts";
import { callsTool, modelOf, type Reply, says, told } from "./models.ts";

/** What one process of the tests does: these questions in a chat, or until it kills itself in its second tool. */
export interface ChatTask {
  readonly url: string;
  readonly way: "steps" | "chatHandler";
  readonly questions: readonly string[];
  readonly dies: boolean;
}

const { url, way, questions, dies } = JSON.parse(process.argv[2] as string) as ChatTask;
const store = postgresStore({ url });
const window = { maxMessages: 500 };
const format = uiMessageFormat<UIMessage>();
const chats = createChatMemories({ store, format, window });

const noInput = { description: "does it", inputSchema: z.object({}) };
const tools = {
  first: tool({ ...noInput, execute: async () => "first done" }),
  second: tool({
    ...noInput,
    execute: async () => {
      if (!dies) return "second done";
      while (!(await isKept())) await new Promise((resolve) => setTimeout(resolve, 5));
      process.kill(process.pid, "SIGKILL");
      return "never";
    },
  }),
};

/** Whether the first step is stored, in whatever format. */
async function isKept(): Promise<boolean> {
  return JSON.stringify(await store.getMessages("chat-1")).includes("first done");
}

const goesOn = questions[0] === "Go on";
const replies: Reply[] = questions.flatMap(() =>
  goesOn ? [says("Done.")] : [callsTool("first"), callsTool("second"), says("Done.")],
);
const { model, prompts } = modelOf(...replies);

const ways = {
  async steps(question: string) {
    const memory = createChatMemories<ModelMessage>({ store, window }).get("chat-1", { owner: "ann" });
    await memory.add({ role: "user", content: question });
    const run = await steps(memory);
    await generateText({ model, tools, stopWhen: stepCountIs(8), ...run });
    await run.done();
  },
  async chatHandler(question: string) {
    const handler = chatHandler({ memories: chats, owner: () => "ann", model, tools });
    const message = { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text: question }] };
    const response = await handler(
      new Request("http://localhost/api/chat", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ id: "chat-1", message }),
      }),
    );
    const text = await response.text();
    if (!response.ok) throw new Error(text);
  },
};

for (const question of questions) await ways[way](question);
await store.close();
process.stdout.write(JSON.stringify(prompts.map((prompt) => prompt.map(told))));
