import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { checkName, checkRole } from "../checks.ts";

const roles: readonly unknown[] = ["system", "developer", "user", "assistant", "tool", "function"];

/**
 * Refuses what the format could not work with once it is stored. Members and part types that it does not know pass:
 * they are kept as they are. Throws `INVALID_MESSAGE`, which never repeats content.
 */
export function checkMessage(message: unknown): void {
  if (!isObject(message)) throw invalidMessage(`is ${kindOf(message)}`, "Give an object with a role.");
  const { role, content } = message;
  checkRole(role, roles);
  const mayLackContent = role === "assistant" || role === "function";
  if (Array.isArray(content)) {
    const at = content.findIndex((part) => !isObject(part) || typeof part.type !== "string");
    if (at >= 0)
      throw invalidMessage(`has a content part without a type at index ${at}`, "Give each part a type.");
  } else if (
    typeof content !== "string" &&
    !(mayLackContent && (content === null || content === undefined))
  ) {
    throw invalidMessage(
      `of role ${role} has ${kindOf(content)} as content`,
      "Give a string or a list of parts.",
    );
  }
  if (role === "tool") checkName(message.tool_call_id, "tool_call_id", "the id of the call that it answers");
  if (role === "function") checkName(message.name, "name", "the name of the function that it answers");
  if (role === "assistant") checkCalls(message);
}

function checkCalls(message: Record<string, unknown>): void {
  const { tool_calls: calls, function_call: call } = message;
  if (call !== undefined && call !== null) {
    if (!isObject(call))
      throw invalidMessage(`has ${kindOf(call)} as function_call`, "Give an object with a name.");
    checkName(call.name, "function_call.name", "the function's name");
  }
  if (calls === undefined || calls === null) return;
  if (!Array.isArray(calls)) throw invalidMessage(`has ${kindOf(calls)} as tool_calls`, "Give a list.");
  calls.forEach((entry: unknown, at) => {
    if (!isObject(entry))
      throw invalidMessage(`has ${kindOf(entry)} as tool_calls[${at}]`, "Give an object with an id.");
    checkName(entry.id, `tool_calls[${at}].id`, "the id that its result names");
  });
}
