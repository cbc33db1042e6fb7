import {
  AfterModelCallEvent,
  BeforeToolsEvent,
  InvokeModelStage,
  type LocalAgent,
  Message,
  MessageAddedEvent,
  type MessageData,
  type Plugin,
} from "@strands-agents/sdk";
import type { ChatMemory } from "@turnkeep/core";
import type { BedrockMessage } from "@turnkeep/formats/bedrock";

/**
 * Keeps a Strands agent's conversation in a memory: each message is stored before the next step begins, and each model
 * call is shown the memory's window instead of everything. Strands' messages have the shape of Bedrock's.
 */
export class TurnkeepPlugin implements Plugin {
  readonly name = "turnkeep";
  readonly #memory: ChatMemory<BedrockMessage>;

  constructor(memory: ChatMemory<BedrockMessage>) {
    this.#memory = memory;
  }

  initAgent(agent: LocalAgent): void {
    // An answer joins the agent's messages only when its tools are done: it is stored before they begin. Not sooner, as
    // one that a hook has made again is no message.
    const store = ({ message }: { readonly message: Message }): Promise<void> =>
      this.#memory.put(message.trackingId, message.toJSON() as BedrockMessage);
    agent.addHook(BeforeToolsEvent, store);
    agent.addHook(MessageAddedEvent, store);
    // What a guardrail has blocked is not shown again.
    agent.addHook(AfterModelCallEvent, async ({ agent: { messages }, stopData }) => {
      const message = messages.at(-1);
      if (stopData?.redaction !== undefined && message?.role === "user") await store({ message });
    });
    agent.addMiddleware(InvokeModelStage.Input, async (context) => {
      const shown = await this.#memory.messages();
      return {
        ...context,
        messages: shown.map((message) => Message.fromJSON(structuredClone(message) as MessageData)),
      };
    });
  }
}
