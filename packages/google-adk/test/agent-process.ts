import { gemini } from "@turnkeep/formats/profiles";
import { postgresStore } from "@turnkeep/store-postgres";
import {
  agentOf,
  type Contents,
  calling,
  names,
  type Parts,
  ScriptedLlm,
  told,
  toolOf,
  worldOf,
} from "./world.ts";

/** What one process of the tests does: these questions in a session, or until it kills itself in its second tool. */
export interface AgentTask {
  readonly url: string;
  readonly questions: readonly string[];
  readonly dies: boolean;
}

const { url, questions, dies } = JSON.parse(process.argv[2] as string) as AgentTask;
const store = postgresStore({ url });
const second = toolOf("second", () => {
  if (!dies) return "second done";
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
});

/** By how often it was asked: another process's run may stand between the events of this one. */
function reply(contents: Contents): Parts {
  const step = (model.requests.length - 1) % 3;
  if (questions[0] === "Go on") {
    const results = contents.flatMap(({ parts = [] }) =>
      parts.map(({ functionResponse }) => functionResponse?.response),
    );
    return [{ text: `Done, with ${results.flatMap((response) => response?.result ?? []).join(" and ")}.` }];
  }
  return step === 2 ? [{ text: "Done." }] : calling(step === 0 ? "first" : "second");
}

const model: ScriptedLlm = new ScriptedLlm(...Array.from({ length: 3 * questions.length }, () => reply));
const { ask } = worldOf(agentOf(model, toolOf("first"), second), {
  store,
  window: { maxMessages: 500 },
  profile: gemini,
});
for (const question of questions) {
  await ask(question, names);
}
await store.close();
process.stdout.write(JSON.stringify(model.requests.map((contents) => contents.map(told))));
