import { type Event, isCompactedEvent } from "@google/adk";
import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";

/**
 * Refuses what the format could not work with once it is stored. Members that it does not know pass. Throws
 * `INVALID_MESSAGE`, which never repeats content.
 */
export function checkEvent(event: unknown): void {
  if (!isObject(event))
    throw invalidMessage(`is ${kindOf(event)}`, "Give an event, such as createEvent makes.");
  const { id, content, compactedContent } = event;
  if (typeof id !== "string") throw invalidMessage(`has ${kindOf(id)} as id`, "Make it by createEvent.");
  if (isCompactedEvent(event as unknown as Event) && typeof compactedContent !== "string") {
    throw invalidMessage(`has ${kindOf(compactedContent)} as compactedContent`, "Give a text.");
  }
  if (content !== undefined) checkContent(content);
}

function checkContent(content: unknown): void {
  if (!isObject(content))
    throw invalidMessage(`has ${kindOf(content)} as content`, "Give an object with parts.");
  const { role, parts } = content;
  if (role !== undefined && role !== "user" && role !== "model") {
    throw invalidMessage(
      "has a content of another role than user and model",
      "Give instructions to the agent.",
    );
  }
  if (parts === undefined) return;
  if (!Array.isArray(parts)) throw invalidMessage(`has ${kindOf(parts)} as content.parts`, "Give a list.");
  parts.forEach((part: unknown, at) => {
    if (!isObject(part))
      throw invalidMessage(`has ${kindOf(part)} as content.parts[${at}]`, "Give an object.");
    for (const member of ["functionCall", "functionResponse"]) {
      const named = part[member] ?? undefined;
      if (named === undefined || (isObject(named) && typeof named.name === "string" && named.name !== ""))
        continue;
      throw invalidMessage(
        `has a ${member} without a name in content.parts[${at}]`,
        "Give the function's name.",
      );
    }
  });
}
