import type { CallPlace, MessageFormat, Omission, Role } from "@turnkeep/core";
import { derived, withMember } from "@turnkeep/core/format-kit";
import { type AnyItem, typeOf } from "./any-item.ts";
import { checkItem } from "./check.ts";
import { interruptedResults } from "./interrupted.ts";
import type { ResponsesItem } from "./items.ts";
import { inForce, sets } from "./settings.ts";
import { visitItem } from "./visit.ts";

const format = derived<ResponsesItem>(visitItem, {
  name: "openai-responses",
  version: 1,
  answersInParts: true,
  systemMessages: "positioned",
  role,
  interruptedResults,
  textMessage: (role, text) => ({ role, content: text }),
  // Items are never joined: the API takes any number of messages of one role.
  joined: () => undefined,
  sets,
  inForce,
  check: checkItem,
});

/**
 * The items of OpenAI's Responses API, kept as they are: pass to `add` what `client.responses.create({ input })` takes,
 * and each item of the `output` that it returns. `developer` messages count as system messages; a later
 * one stays where it was said (`systemMessages`). Calls that the API runs
 * itself need no result of yours; approvals that an MCP server's call waits for are understood. Items, parts and
 * members that the API's types do not name are kept.
 *
 * Its `encode` throws `INVALID_MESSAGE` for anything but an item, a whole response, an unknown role, content that is
 * neither text nor a list of typed parts, a call without its `call_id` and a result without that of its call.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { openaiResponsesFormat } from "@turnkeep/formats/openai-responses";
 *
 * const memory = createChatMemory({ format: openaiResponsesFormat, window: { maxMessages: 40 } });
 * await memory.add({ role: "user", content: "Hello" });
 * ```
 */
export const openaiResponsesFormat: MessageFormat<ResponsesItem> = {
  ...format,
  without,
  renameCalls,
};

const messageRoles: Readonly<Record<string, Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
};

/** Items that neither the user nor the model says: they stand between, as results do. */
const asides: ReadonlySet<string> = new Set([
  "mcp_approval_response",
  "additional_tools",
  "configuration_update",
  "compaction_trigger",
]);

/** What the model puts out has the role `assistant`; results, whoever ran the call, have the role `tool`. */
function role(message: ResponsesItem): Role {
  const type = typeOf(message);
  const { role } = message as { readonly role?: string };
  if (type === "message") return messageRoles[role as string] as Role;
  if (asides.has(type) || type.endsWith("_output")) return "tool";
  return role === "user" ? "user" : "assistant";
}

/** Of a shell call only the call tells who runs it, and not its result, so that both are renamed, whoever does. */
function renameCalls(message: ResponsesItem, rename: (id: string, of?: CallPlace) => string): ResponsesItem {
  if (message.type === "shell_call") return withMember(message, "call_id", rename(message.call_id, "call"));
  return format.renameCalls?.(message, rename) ?? message;
}

/** Reasoning stands in an item of its own, to which others are bound. */
function without(message: ResponsesItem, omission: Omission): ResponsesItem | undefined {
  if (omission.reasoning !== true) return format.without(message, omission);
  return isRun(message) ? undefined : format.without(unbound(message), omission);
}

/** What the API ran goes back under the id that it gave it, by which it knows the reasoning that led to it. */
function isRun(message: ResponsesItem): boolean {
  const isAsked = message.type === "mcp_approval_request";
  return !isAsked && format.toolCalls(message).some(({ providerExecuted }) => providerExecuted === true);
}

/** What the model put out and may go back without the id that the API gave it. */
const nameless: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "custom_tool_call",
  "shell_call",
  "apply_patch_call",
]);

/** By its id the API knows the reasoning that led to an item, and refuses it without. */
function unbound(message: ResponsesItem): ResponsesItem {
  const { id, ...rest } = message as unknown as AnyItem;
  const isBound = nameless.has(typeOf(message)) && id !== undefined && role(message) === "assistant";
  // A copy of a message that a provider would see nothing of is none.
  return isBound && !format.isEmpty(message) ? (rest as unknown as ResponsesItem) : message;
}
