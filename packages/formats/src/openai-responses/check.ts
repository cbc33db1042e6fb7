import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { checkName, checkParts, checkRole, checkText } from "../checks.ts";

const roles: readonly unknown[] = ["system", "developer", "user", "assistant"];

const callIdOf = "the id that joins a call and its result";

/** The members of an item of that type that must be a text of at least one character. */
const names: Readonly<Record<string, readonly string[]>> = {
  function_call: ["call_id", "name"],
  custom_tool_call: ["call_id", "name"],
  custom_tool_call_output: ["call_id"],
  computer_call: ["call_id"],
  computer_call_output: ["call_id"],
  local_shell_call: ["call_id"],
  shell_call: ["call_id"],
  shell_call_output: ["call_id"],
  apply_patch_call: ["call_id"],
  apply_patch_call_output: ["call_id"],
  program: ["call_id"],
  program_output: ["call_id"],
  mcp_approval_request: ["id", "name"],
  mcp_approval_response: ["approval_request_id"],
  item_reference: ["id"],
};

/** The members that hold a list of typed parts, where they are there. */
const lists: Readonly<Record<string, readonly string[]>> = {
  reasoning: ["summary", "content"],
  code_interpreter_call: ["outputs"],
};

const textMembers: ReadonlyMap<string, string> = new Map([
  ["input_text", "text"],
  ["output_text", "text"],
  ["summary_text", "text"],
  ["reasoning_text", "text"],
  ["refusal", "refusal"],
]);

/**
 * Refuses what the format could not work with once it is stored. Members, parts and items that it does not know pass:
 * they are kept as they are. Throws `INVALID_MESSAGE`, which never repeats content.
 */
export function checkItem(item: unknown): void {
  if (!isObject(item)) throw invalidMessage(`is ${kindOf(item)}`, "Give an item of the Responses API.");
  const type = typeOf(item);
  if (type === "message") checkMessage(item);
  for (const member of own(names, type)) checkName(item[member], member, helpFor(member));
  for (const member of own(lists, type)) {
    const parts = item[member];
    if (parts !== undefined && parts !== null) checkParts(parts, member, checkPart);
  }
  if (type === "function_call_output" || type === "custom_tool_call_output") {
    if (typeof item.output !== "string") checkParts(item.output, "output", checkPart);
  }
  if (type === "local_shell_call_output" && item.call_id === undefined) checkName(item.id, "id", callIdOf);
}

function typeOf(item: Record<string, unknown>): string {
  const { type, role, id, object } = item;
  if (object === "response") throw invalidMessage("is a whole response", "Give the items of its output.");
  if (typeof type === "string") return type;
  if (type !== undefined && type !== null)
    throw invalidMessage(`has ${kindOf(type)} as type`, "Give a string.");
  if (role !== undefined) return "message";
  if (typeof id === "string") return "item_reference";
  throw invalidMessage("has neither a type nor a role", "Give an item of the Responses API.");
}

function checkMessage({ role, content }: Record<string, unknown>): void {
  checkRole(role, roles);
  if (typeof content === "string") return;
  if (!Array.isArray(content)) {
    throw invalidMessage(
      `of role ${role} has ${kindOf(content)} as content`,
      "Give a string or a list of parts.",
    );
  }
  checkParts(content, "content", checkPart);
}

function checkPart(part: Record<string, unknown>, path: string): void {
  const member = textMembers.get(part.type as string);
  if (member !== undefined) checkText(part[member], `${path}.${member}`);
}

function helpFor(member: string): string {
  if (member === "name") return "the tool's name";
  return member === "call_id" ? callIdOf : "the id that the API gave";
}

function own(of: Readonly<Record<string, readonly string[]>>, type: string): readonly string[] {
  return Object.hasOwn(of, type) ? (of[type] ?? []) : [];
}
