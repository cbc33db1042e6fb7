import type { MessageFormat, Role, ToolCallRef } from "@turnkeep/core";
import { derived, joinedMembers, joinedParts } from "@turnkeep/core/format-kit";
import { checkMessage } from "./check.ts";
import type { ChatMessage } from "./messages.ts";
import { type AnyChatPart, callsOf, legacyName, partsOf } from "./parts.ts";
import { visitMessage } from "./visit.ts";

const roleOf: Readonly<Record<ChatMessage["role"], Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

/**
 * The messages of OpenAI's Chat Completions API, kept as they are: pass to `add` what `client.chat.completions.create({
 * messages })` takes, and `choices[0].message` of its response. `developer` messages count as system messages; a
 * later one stays where it was said (`systemMessages`). The older `function_call` and `function` messages are understood; members and content parts that the API's types do not
 * name are kept.
 *
 * Its `encode` throws `INVALID_MESSAGE` for an unknown role, content that is neither text nor a list of typed parts, a
 * tool call without an id and a result without the id of its call.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { openaiFormat } from "@turnkeep/formats/openai";
 *
 * const memory = createChatMemory({ format: openaiFormat, window: { maxMessages: 40 } });
 * await memory.add({ role: "user", content: "Hello" });
 * ```
 */
export const openaiFormat: MessageFormat<ChatMessage> = derived(visitMessage, {
  name: "openai-chat",
  version: 1,
  systemMessages: "positioned",
  role: (message) => roleOf[message.role],
  interruptedResults,
  textMessage: (role, text) => ({ role, content: text }),
  joined,
  check: checkMessage,
});

function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly ChatMessage[] {
  return calls.map(({ id }) => {
    const name = legacyName(id);
    return name === undefined
      ? { role: "tool", tool_call_id: id, content: text }
      : { role: "function", name, content: text };
  });
}

/**
 * Of an assistant's messages those with nothing but content, because what else one holds has its place behind it. Calls, whose
 * place is at the end, may stand in the second one, or be all that it holds.
 */
function joined(first: ChatMessage, second: ChatMessage): ChatMessage | undefined {
  if (first.role !== second.role || (first.role !== "user" && first.role !== "assistant")) return undefined;
  const speakers = [first, second].map((message) => (message as { readonly name?: string }).name ?? "");
  if (speakers[0] !== speakers[1]) return undefined;
  if (first.role === "assistant" && holdsOnlyCalls(second)) return withCallsOf(first, second);
  const said = withoutCalls(second);
  if (holdsMore(first) || holdsMore(said)) return undefined;
  const joined = joinedParts(first, said, "content", contentParts);
  return joined === undefined || said === second
    ? joined
    : ({ ...joined, tool_calls: callsOf(second) } as ChatMessage);
}

function withoutCalls(message: ChatMessage): ChatMessage {
  if (callsOf(message).length === 0) return message;
  const { tool_calls: _, ...said } = message as ChatMessage & { readonly tool_calls?: unknown };
  return said as ChatMessage;
}

function withCallsOf(first: ChatMessage, second: ChatMessage): ChatMessage | undefined {
  const members = joinedMembers(first, second, ["content", "tool_calls"]);
  if (members === undefined || members.function_call) return undefined;
  const { content = second.content } = first;
  const said = content === undefined ? {} : { content };
  return {
    ...members,
    ...said,
    tool_calls: [...callsOf(first), ...callsOf(second)],
  } as unknown as ChatMessage;
}

function holdsOnlyCalls(message: ChatMessage): boolean {
  if (message.role !== "assistant" || callsOf(message).length === 0) return false;
  const { content, refusal, audio, function_call: legacy } = message;
  const isNothing = [content, refusal, audio, legacy].every((other) => (other ?? "") === "");
  return isNothing && !openaiFormat.hasReasoning(message);
}

function holdsMore(message: ChatMessage): boolean {
  if (message.role !== "assistant") return false;
  const { refusal, audio, function_call: legacy } = message;
  if (refusal || audio || legacy || callsOf(message).length > 0) return true;
  return openaiFormat.hasReasoning(message);
}

function contentParts(message: ChatMessage): readonly AnyChatPart[] {
  if (typeof message.content === "string") return [{ type: "text", text: message.content }];
  return partsOf(message) ?? [];
}
