import {
  assistant,
  type ChatMemory,
  type ModelMessage,
  type TurnOptions,
  toolCall,
  user,
} from "@turnkeep/core";
import type { Model, ModelRequest } from "../src/index.ts";

export type Answer = ModelMessage | Error | ((request: ModelRequest<ModelMessage>) => Promise<ModelMessage>);

/** A model that answers by a script, and keeps what it was asked. */
export interface ScriptedModel extends Model<ModelMessage> {
  readonly requests: ModelRequest<ModelMessage>[];
}

export function scripted(...answers: readonly Answer[]): ScriptedModel {
  const rest = answers.values();
  const requests: ModelRequest<ModelMessage>[] = [];
  const model: Model<ModelMessage> = async (request) => {
    requests.push(request);
    const answer = rest.next().value;
    if (answer === undefined) throw new Error("the script has ended");
    if (answer instanceof Error) throw answer;
    const message = typeof answer === "function" ? await answer(request) : answer;
    return { message, usage: { inputTokens: 10, outputTokens: 2 }, model: "scripted" };
  };
  return Object.assign(model, { requests });
}

/** A memory whose turns nothing keeps apart, so that a test sees what a turn does by itself where two processes run it. */
export function unheld(memory: ChatMemory<ModelMessage>): ChatMemory<ModelMessage> {
  return Object.assign(memory, {
    turn: async <T>(
      run: (turn: { readonly signal: AbortSignal }) => T | Promise<T>,
      { signal = new AbortController().signal }: TurnOptions = {},
    ): Promise<T> => run({ signal }),
  });
}

/** An answer with several calls, each of a tool `name` with the id `id`. */
export function calling(
  ...calls: readonly (readonly [id: string, name: string, input?: unknown])[]
): ModelMessage {
  return assistant(
    calls.map(([toolCallId, toolName, input = {}]) => ({ type: "tool-call", toolCallId, toolName, input })),
  );
}

export { assistant, toolCall, user };
