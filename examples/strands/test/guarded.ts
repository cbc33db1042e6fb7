import { AfterModelCallEvent, Agent, type Message, type ModelStreamEvent } from "@strands-agents/sdk";
import { createChatMemory } from "@turnkeep/core";
import { bedrockFormat } from "@turnkeep/formats/bedrock";
import { bedrock } from "@turnkeep/formats/profiles";
import { ScriptedModel } from "../src/scripted-model.ts";
import { TurnkeepPlugin } from "../src/turnkeep-plugin.ts";

/** A guardrail blocks the first question, and a hook has the first answer made again. */
class Guarded extends ScriptedModel {
  override async *stream(messages: Message[]): AsyncIterable<ModelStreamEvent> {
    for await (const event of super.stream(messages)) {
      if (event.type === "modelMessageStopEvent" && this.requests.length === 2) {
        yield { type: "modelRedactionEvent", inputRedaction: { replaceContent: "[blocked]" } };
      }
      yield event;
    }
  }
}

const memory = createChatMemory({ format: bedrockFormat, profile: bedrock });
const model = new Guarded("Too rude.", "I cannot say.", "Fine.");
const agent = new Agent({ model, plugins: [new TurnkeepPlugin(memory)], printer: false });
agent.addHook(AfterModelCallEvent, (event) => {
  event.retry = model.requests.length === 1;
});
await agent.invoke("A secret.");
await agent.invoke("And now?");
process.stdout.write(JSON.stringify(model.requests.at(-1)?.map((message) => message.toJSON())));
