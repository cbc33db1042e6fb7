import { Agent, run, setTracingDisabled, tool } from "@openai/agents-core";
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
import { createChatMemories } from "@turnkeep/core";
import { postgresStore } from "@turnkeep/store-postgres";
import { z } from "zod";
import { agentsFormat, TurnkeepSession } from "../src/index.ts";

/** What one process of the tests does: these questions in a session, or until it kills itself in its second tool. */
export interface RunTask {
  readonly url: string;
  readonly questions: readonly string[];
  readonly dies: boolean;
}

const { url, questions, dies } = JSON.parse(process.argv[2] as string) as RunTask;
setTracingDisabled(true);
const store = postgresStore({ url });
const memories = createChatMemories({ store, format: agentsFormat, window: { maxMessages: 500 } });

const parameters = z.object({});
const first = tool({ name: "first", description: "first", parameters, execute: async () => "first done" });
const second = tool({
  name: "second",
  description: "second",
  parameters,
  execute: async () => {
    if (!dies) return "second done";
    process.kill(process.pid, "SIGKILL");
    return new Promise<string>(() => undefined);
  },
});

const calling = (name: string) =>
  modelResponder(() => [functionCall(name, {}, { callId: crypto.randomUUID() })]);
const model = new ScriptedModel(
  questions.flatMap((question) => [
    ...(question === "Go on" ? [] : [calling("first"), calling("second")]),
    [assistantMessage("Done.")],
  ]),
);
const agent = new Agent({ name: "Assistant", model, tools: [first, second] });
for (const question of questions) {
  const session = new TurnkeepSession({ memories, sessionId: "chat-1", owner: "ann" });
  await run(agent, question, { session, callModelInputFilter: session.modelInput });
}
await store.close();
process.stdout.write(JSON.stringify(model.calls.map(({ request }) => request.input)));
