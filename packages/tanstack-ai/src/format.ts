import type { ContentPart, ModelMessage } from "@tanstack/ai";
import type { MessageFormat, Role, ToolCallRef } from "@turnkeep/core";
import { derived, joinedMembers } from "@turnkeep/core/format-kit";
import { checkMessage } from "./format/check.ts";
import { visitMessage } from "./format/visit.ts";

/**
 * The model messages of TanStack AI (`ModelMessage`), kept as they are: content parts, tool calls and results, thinking,
 * structured output, metadata, ids and times. `chat` makes them of the browser's messages, and the SDK's
 * `modelMessagesToUIMessages` makes messages for the browser of them. Members and parts that the SDK's types do not name are
 * kept too.
 *
 * Its `encode` throws `INVALID_MESSAGE` for an unknown role, content that is neither text nor a list of typed parts, a call
 * without an id or a function's name, and a result without the id of its call.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { tanstackFormat } from "@turnkeep/tanstack-ai";
 *
 * const memory = createChatMemory({ format: tanstackFormat, window: { maxMessages: 40, unit: "turn" } });
 * await memory.add({ role: "user", content: "Hello" });
 * const messages = await memory.messages(); // ModelMessage[]
 * ```
 */
export const tanstackFormat: MessageFormat<ModelMessage> = derived(visitMessage, {
  name: "tanstack-ai",
  version: 1,
  // Instructions are the `systemPrompts` of a run; a message with that role is what a client has said as a developer.
  systemMessages: "positioned",
  role: ({ role }) => role as Role,
  interruptedResults,
  textMessage: (role, text) => ({ role, content: text }),
  joined,
  check: checkMessage,
});

/** As the SDK tells a model of a tool that failed. */
function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly ModelMessage[] {
  return calls.map(({ id }) => ({ role: "tool", content: JSON.stringify({ error: text }), toolCallId: id }));
}

/** Members that are joined one by one, and those that tell of one message's making, and not of what it says. */
const joinedApart = ["content", "toolCalls", "id", "createdAt", "metadata"];

/** What one speaker says, unless the first calls tools and the second says something, whose place is before the calls. */
function joined(first: ModelMessage, second: ModelMessage): ModelMessage | undefined {
  if (first.role !== second.role || (first.role !== "user" && first.role !== "assistant")) return undefined;
  if (first.name !== second.name) return undefined;
  if (first.toolCalls?.length && partsOf(second).length > 0) return undefined;
  // Thoughts stand before all that a message says.
  if (second.thinking?.length) return undefined;
  const members = joinedMembers(first, second, joinedApart) as Partial<ModelMessage> | undefined;
  if (members === undefined) return undefined;
  const toolCalls = [...(first.toolCalls ?? []), ...(second.toolCalls ?? [])];
  const content = [...partsOf(first), ...partsOf(second)];
  return {
    ...members,
    role: first.role,
    content: content.length === 0 ? null : content,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

function partsOf({ content }: ModelMessage): readonly ContentPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", content }];
  return content ?? [];
}
