import type { AgentInputItem } from "@openai/agents-core";
import type { MessageFormat, Omission, Role } from "@turnkeep/core";
import { derived } from "@turnkeep/core/format-kit";
import { checkItem } from "./format/check.ts";
import { interruptedResults } from "./format/interrupted.ts";
import { type AnyItem, isResult, typeOf } from "./format/items.ts";
import { visitItem } from "./format/visit.ts";

const format = derived<AgentInputItem>(visitItem, {
  name: "openai-agents",
  version: 1,
  answersInParts: true,
  systemMessages: "positioned",
  role,
  interruptedResults,
  textMessage: (role, text) =>
    role === "user"
      ? { type: "message", role, content: text }
      : { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] },
  // Items are never joined: models take any number of messages of one role.
  joined: () => undefined,
  check: checkItem,
});

/**
 * The items of the OpenAI Agents SDK (`AgentInputItem`), kept as they are: messages, calls and results of every kind of
 * tool, reasoning, compactions. Items, parts and members that the SDK's types do not name are kept too.
 *
 * Its `encode` throws `INVALID_MESSAGE` for anything but an item, an unknown role, content that is neither text nor a list
 * of typed parts, and a call or a result without its `callId`.
 *
 * @example
 * ```ts
 * import { user } from "@openai/agents-core";
 * import { createChatMemory } from "@turnkeep/core";
 * import { agentsFormat } from "@turnkeep/openai-agents";
 *
 * const memory = createChatMemory({ format: agentsFormat, window: { maxMessages: 40, unit: "turn" } });
 * await memory.add(user("Hello"));
 * ```
 */
export const agentsFormat: MessageFormat<AgentInputItem> = { ...format, without };

/** What the model puts out has the role `assistant`; results, whoever ran the call, have the role `tool`. */
function role(message: AgentInputItem): Role {
  const type = typeOf(message);
  const { role, name } = message as { readonly role?: Role; readonly name?: string };
  if (type === "message") return role as Role;
  return isResult(type) || name === "mcp_approval_response" ? "tool" : "assistant";
}

/** What the model put out and may go back without the id that the provider gave it. */
const nameless: ReadonlySet<string> = new Set(["message", "function_call", "shell_call", "apply_patch_call"]);

/**
 * Reasoning stands in an item of its own. By their ids OpenAI knows the reasoning that led to other items, and refuses
 * them without it; what it ran itself goes back under its id alone.
 */
function without(message: AgentInputItem, omission: Omission): AgentInputItem | undefined {
  if (omission.reasoning !== true) return format.without(message, omission);
  const type = typeOf(message);
  if (type === "hosted_tool_call" && format.approvals(message).length === 0) return undefined;
  const { id, ...rest } = message as unknown as AnyItem;
  const isBound = nameless.has(type) && id !== undefined && role(message) === "assistant";
  return format.without(isBound ? (rest as unknown as AgentInputItem) : message, omission);
}
