import { type BaseModelConfig, type Message, Model, type ModelStreamEvent } from "@strands-agents/sdk";

/** What a model says at once: a text, or a call of a tool. */
export type Reply = string | { readonly name: string; readonly input: Record<string, string> };

/** A model that answers these, one after the other, and keeps what it was asked. */
export class ScriptedModel extends Model {
  readonly requests: Message[][] = [];
  readonly #replies: Reply[];

  constructor(...replies: Reply[]) {
    super();
    this.#replies = replies;
  }

  override async *stream(messages: Message[]): AsyncIterable<ModelStreamEvent> {
    this.requests.push([...messages]);
    const reply = this.#replies.shift() ?? "…";
    yield { type: "modelMessageStartEvent", role: "assistant" };
    if (typeof reply === "string") {
      yield { type: "modelContentBlockStartEvent" };
      yield { type: "modelContentBlockDeltaEvent", delta: { type: "textDelta", text: reply } };
    } else {
      const toolUseId = `call-${this.requests.length}`;
      yield {
        type: "modelContentBlockStartEvent",
        start: { type: "toolUseStart", name: reply.name, toolUseId },
      };
      const input = JSON.stringify(reply.input);
      yield { type: "modelContentBlockDeltaEvent", delta: { type: "toolUseInputDelta", input } };
    }
    yield { type: "modelContentBlockStopEvent" };
    yield { type: "modelMessageStopEvent", stopReason: typeof reply === "string" ? "endTurn" : "toolUse" };
  }

  override getConfig(): BaseModelConfig {
    return {};
  }

  override updateConfig(): void {}
}
