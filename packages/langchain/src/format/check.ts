import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { isKind } from "./dict.ts";

/**
 * Refuses what the format could not work with once it is stored. Members and blocks that it does not know pass. Throws
 * `INVALID_MESSAGE`, which never repeats content.
 */
export function checkDict(dict: unknown): void {
  if (!isObject(dict) || !isObject(dict.data)) throw invalidMessage(`is ${kindOf(dict)}`, "Give a message.");
  const { type, data } = dict;
  if (type === "remove") {
    throw invalidMessage(
      "is a RemoveMessage, which tells a graph's state what to drop",
      "Take messages out of a memory with its rewind or remove.",
    );
  }
  if (!isKind(type)) throw invalidMessage("is of an unknown type", "Give one of LangChain's.");
  checkContent(data.content);
  if (type === "tool") checkText(data.tool_call_id, "tool_call_id", "the id of the call that it answers");
  if (type === "function") checkText(data.name, "name", "the name of the function that it answers");
  if (type === "generic") checkText(data.role, "role", "who said it");
  for (const member of ["additional_kwargs", "response_metadata"]) {
    const value = data[member];
    if (value !== undefined && !isObject(value)) {
      throw invalidMessage(`has ${kindOf(value)} as ${member}`, "Give an object.");
    }
  }
  if (type === "ai") checkCalls(data);
}

function checkContent(content: unknown): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content)) {
    throw invalidMessage(`has ${kindOf(content)} as content`, "Give a string or a list of blocks.");
  }
  const at = content.findIndex((block) => !isObject(block) || typeof block.type !== "string");
  if (at >= 0) throw invalidMessage(`has a block without a type at index ${at}`, "Give each block a type.");
}

function checkCalls(data: Record<string, unknown>): void {
  for (const member of ["tool_calls", "invalid_tool_calls", "tool_call_chunks"]) {
    const calls = data[member];
    if (calls === undefined) continue;
    if (!Array.isArray(calls) || !calls.every(isObject)) {
      throw invalidMessage(`has ${kindOf(calls)} as ${member}`, "Give a list of calls.");
    }
    if (member !== "tool_calls") continue;
    calls.forEach(({ id, name }, at) => {
      checkText(id, `tool_calls[${at}].id`, "the id that its result names");
      if (typeof name !== "string")
        throw invalidMessage(`has ${kindOf(name)} as tool_calls[${at}].name`, "Give the tool's name.");
    });
  }
}

function checkText(value: unknown, path: string, what: string): void {
  if (typeof value === "string" && value !== "") return;
  throw invalidMessage(`has ${value === "" ? "an empty string" : kindOf(value)} as ${path}`, `Give ${what}.`);
}
