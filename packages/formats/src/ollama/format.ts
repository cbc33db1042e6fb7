import type { MessageFormat, Role, ToolCallRef } from "@turnkeep/core";
import { derived, joinedMembers } from "@turnkeep/core/format-kit";
import { idByName } from "../id-by-name.ts";
import { checkMessage } from "./check.ts";
import type { OllamaMessage } from "./messages.ts";
import { callsOf, imagesOf, thoughtOf } from "./parts.ts";
import { visitMessage } from "./visit.ts";

/**
 * The messages of Ollama's chat API, kept as they are: pass to `add` what `ollama.chat({ messages })` takes, and `message` of
 * its response. Calls need no id: without one, the first tool message that bears a tool's name (`tool_name`) answers the
 * first call of it. Ids that newer servers give (`id`, `tool_call_id`) are used where they are there. `thinking` counts as
 * reasoning; unknown members are kept.
 *
 * Its `encode` throws `INVALID_MESSAGE` for an unknown role, content that is no text, a call without the tool's name, and a
 * tool message that names neither its tool nor its call.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { ollamaFormat } from "@turnkeep/formats/ollama";
 *
 * const memory = createChatMemory({ format: ollamaFormat, window: { maxMessages: 40 } });
 * await memory.add({ role: "user", content: "Hello" });
 * ```
 */
export const ollamaFormat: MessageFormat<OllamaMessage> = derived(visitMessage, {
  name: "ollama-chat",
  version: 1,
  role: ({ role }) => role as Role,
  interruptedResults,
  textMessage: (role, text) => ({ role, content: text }),
  joined,
  check: checkMessage,
});

function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly OllamaMessage[] {
  return calls.map(({ id, name }) => ({
    role: "tool",
    content: text,
    tool_name: name,
    ...(id === idByName(name) ? {} : { tool_call_id: id }),
  }));
}

/** A message has one text: only calls have room beside those of another answer. */
function joined(first: OllamaMessage, second: OllamaMessage): OllamaMessage | undefined {
  if (first.role !== "assistant" || second.role !== "assistant") return undefined;
  const saysMore = second.content !== "" || thoughtOf(second) !== "" || imagesOf(second).length > 0;
  if (saysMore || callsOf(second).length === 0) return undefined;
  const members = joinedMembers(first, second, ["content", "tool_calls"]);
  return (
    members &&
    ({
      ...members,
      content: first.content,
      tool_calls: [...callsOf(first), ...callsOf(second)],
    } as object as OllamaMessage)
  );
}
