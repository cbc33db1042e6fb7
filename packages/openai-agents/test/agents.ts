import { Agent, type AgentInputItem, type AgentOutputItem, type Tool, tool } from "@openai/agents-core";
import {
  assistantMessage,
  functionCall,
  ScriptedModel,
  type ScriptedModelInput,
} from "@openai/agents-core/testing";
import {
  type ChatMemories,
  type ChatMemoryStore,
  createChatMemories,
  inMemoryStore,
  type WindowOptions,
} from "@turnkeep/core";
import { openaiResponses, validate } from "@turnkeep/formats/profiles";
import { expect } from "vitest";
import { z } from "zod";
import { agentsFormat, TurnkeepSession } from "../src/index.ts";

export type Memories = ChatMemories<AgentInputItem>;

export function memoriesOf(
  window: WindowOptions<AgentInputItem> = { maxMessages: 500 },
  store: ChatMemoryStore = inMemoryStore(),
): Memories {
  return createChatMemories({ store, format: agentsFormat, window });
}

export function sessionOf(memories: Memories = memoriesOf(), sessionId = "chat-1"): TurnkeepSession {
  return new TurnkeepSession({ memories, sessionId });
}

/** What `run` needs beside the input. */
export function over(session: TurnkeepSession): {
  session: TurnkeepSession;
  callModelInputFilter: TurnkeepSession["modelInput"];
} {
  return { session, callModelInputFilter: session.modelInput };
}

let calls = 0;

export function calling(name: string): AgentOutputItem {
  const n = ++calls;
  return functionCall(name, {}, { callId: `${name}-${n}`, id: `fc_${n}` });
}

export function saying(text: string): AgentOutputItem {
  return assistantMessage(text);
}

export function toolOf(name: string, execute: () => unknown = () => `${name} done`): Tool {
  return tool({ name, description: name, parameters: z.object({}), execute: async () => execute() });
}

/** A model that answers these, one after the other. */
export function modelOf(...answers: ScriptedModelInput[]): ScriptedModel {
  return new ScriptedModel(answers);
}

/** The items of each request, as told, each list one that a provider accepts. */
export function prompts(model: ScriptedModel): string[][] {
  return model.calls.map(({ request }) => {
    const input = request.input as AgentInputItem[];
    expect(validate(input, openaiResponses, { format: agentsFormat })).toEqual([]);
    return input.map(told);
  });
}

export function agentOf(model: ScriptedModel, ...tools: Tool[]): Agent {
  return new Agent({ name: "Assistant", instructions: "Be brief.", model, tools });
}

/** A run calls the first tool, then the second, then says that it is done. */
export function worker(): { readonly model: ScriptedModel; readonly agent: Agent } {
  const model = modelOf([calling("first")], [calling("second")], [saying("Done.")]);
  return { model, agent: agentOf(model, toolOf("first"), toolOf("second")) };
}

export const worked: readonly string[] = [
  "[first]",
  "(first done)",
  "[second]",
  "(second done)",
  "assistant: Done.",
];

/** An item as a test writes it. */
export function told(item: AgentInputItem): string {
  switch (item.type) {
    case "function_call":
      return `[${item.name}]`;
    case "function_call_result":
      return `(${textOf(item.output)})`;
    case undefined:
    case "message":
      return `${item.role}: ${textOf(item.content)}`;
    default:
      return item.type;
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = (Array.isArray(content) ? content : [content]) as { readonly text?: string }[];
  return parts.map(({ text = "" }) => text).join("");
}

export async function recorded(session: TurnkeepSession): Promise<string[]> {
  return (await session.getItems()).map(told);
}
