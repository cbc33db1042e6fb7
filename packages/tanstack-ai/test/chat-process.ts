import { chat, type ModelMessage } from "@tanstack/ai";
import { createChatMemories } from "@turnkeep/core";
import { openai, validate } from "@turnkeep/formats/profiles";
import { postgresStore } from "@turnkeep/store-postgres";
import { tanstackFormat, turnkeepMiddleware } from "../src/index.ts";
import { type Answer, calling, Scripted, saying, told, toolOf } from "./chats.ts";

/** What one process of the tests does: these questions in a conversation, or until it kills itself in its second tool. */
export interface ChatTask {
  readonly url: string;
  /** Of none, the run goes on. */
  readonly questions: readonly (string | null)[];
  /** Whether both tools are called by one answer. */
  readonly atOnce: boolean;
  readonly dies: boolean;
}

const { url, questions, atOnce, dies } = JSON.parse(process.argv[2] as string) as ChatTask;
const store = postgresStore({ url });
const memories = createChatMemories({ store, format: tanstackFormat, window: { maxMessages: 500 } });
const unique = (answer: Answer): Answer => ({
  ...answer,
  calls: (answer.calls ?? []).map(([name]) => [name, crypto.randomUUID()] as const),
});

/** By how often it was asked: another process's run may stand between the messages of this one. */
function reply(messages: readonly ModelMessage[]): Answer {
  const [refused] = validate(messages, openai, { format: tanstackFormat });
  if (refused !== undefined) throw new Error(`A provider refuses the prompt by its rule ${refused.rule}.`);
  const step = (model.requests.length - 1) % 3;
  if (questions[0] === null || questions[0] === "Go on") {
    const results = messages.filter(
      ({ role, content }) => role === "tool" && !String(content).includes("error"),
    );
    return saying(`Done, with ${results.map(({ content }) => content).join(" and ")}.`);
  }
  if (step === 0) return unique(atOnce ? calling("first", "second") : calling("first"));
  return step === 1 ? unique(calling("second")) : saying("Done.");
}

const model: Scripted = new Scripted(...Array.from({ length: 3 * questions.length }, () => reply));
const second = toolOf("second", () => {
  if (!dies) return "second done";
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
});
const middleware = turnkeepMiddleware({ memories, owner: "ann" });
for (const content of questions) {
  const messages: ModelMessage[] = content === null ? [] : [{ role: "user", content }];
  await chat({
    adapter: model,
    threadId: "chat-1",
    messages,
    tools: [toolOf("first"), second],
    stream: false,
    middleware: [middleware],
  });
}
await store.close();
process.stdout.write(JSON.stringify(model.requests.map((messages) => messages.map(told))));
