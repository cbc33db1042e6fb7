import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { isCall, isName, isResult } from "./items.ts";

const roles: readonly unknown[] = ["system", "user", "assistant"];

/** The member of a part that must be a text. */
const texts: ReadonlyMap<string, string> = new Map([
  ["input_text", "text"],
  ["output_text", "text"],
  ["reasoning_text", "text"],
  ["refusal", "refusal"],
  ["text", "text"],
]);

/**
 * Refuses what the format could not work with once it is stored. Members, parts and items that it does not know pass:
 * they are kept as they are. Throws `INVALID_MESSAGE`, which never repeats content.
 */
export function checkItem(item: unknown): void {
  if (!isObject(item)) throw invalidMessage(`is ${kindOf(item)}`, "Give an item of the Agents SDK.");
  const { type = "message", role, content } = item;
  if (typeof type !== "string") throw invalidMessage(`has ${kindOf(type)} as type`, "Give a string.");
  if (type === "message") {
    if (!roles.includes(role)) {
      throw invalidMessage(
        `has ${kindOf(role)} as role, none of the SDK's`,
        `Use one of: ${roles.join(", ")}.`,
      );
    }
    if (typeof content !== "string") checkParts(content, "content");
  }
  if (type === "reasoning") checkParts(content, "content");
  if ((isCall(type) || isResult(type)) && !type.startsWith("tool_search_")) checkName(item, "callId");
  if (type === "function_call" || type === "function_call_result") checkName(item, "name");
  if (type === "function_call_result") checkOutput(item.output);
  if (type === "computer_call_result") checkPart(item.output, "output");
}

function checkOutput(output: unknown): void {
  if (typeof output === "string") return;
  if (Array.isArray(output)) checkParts(output, "output");
  else checkPart(output, "output");
}

function checkParts(parts: unknown, path: string): void {
  if (!Array.isArray(parts)) {
    throw invalidMessage(
      `has ${kindOf(parts)} as ${path}`,
      "Give a list of parts, or a string where the SDK takes one.",
    );
  }
  parts.forEach((part, at) => {
    checkPart(part, `${path}[${at}]`);
  });
}

function checkPart(part: unknown, path: string): void {
  if (!isObject(part) || typeof part.type !== "string") {
    throw invalidMessage(`has a part without a type as ${path}`, "Give an object with a type.");
  }
  const member = texts.get(part.type);
  if (member !== undefined && typeof part[member] !== "string") {
    throw invalidMessage(`has ${kindOf(part[member])} as ${path}.${member}`, "Give a string.");
  }
}

function checkName(item: Record<string, unknown>, member: "callId" | "name"): void {
  const value = item[member];
  if (isName(value)) return;
  const what = value === "" ? "an empty string" : kindOf(value);
  const wanted = member === "name" ? "the tool's name" : "the id that joins a call and its result";
  throw invalidMessage(`has ${what} as ${member}`, `Give ${wanted}.`);
}
