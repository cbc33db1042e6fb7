import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";

const roles: readonly unknown[] = ["user", "assistant", "tool", "system"];
const media: readonly unknown[] = ["image", "audio", "video", "document"];

/**
 * Refuses what the format could not work with once it is stored. Members and parts that it does not know pass: they are
 * kept as they are. Throws `INVALID_MESSAGE`, which never repeats content.
 */
export function checkMessage(message: unknown): void {
  if (!isObject(message)) throw invalidMessage(`is ${kindOf(message)}`, "Give an object with a role.");
  const { role, content, toolCallId, toolCalls, thinking } = message;
  if ("parts" in message) {
    throw invalidMessage(
      "is a UIMessage",
      "Give chat() the browser's messages, or convertMessagesToModelMessages.",
    );
  }
  if (!roles.includes(role)) {
    throw invalidMessage(
      `has ${kindOf(role)} as role, none of the SDK's`,
      `Use one of: ${roles.join(", ")}.`,
    );
  }
  if (Array.isArray(content)) content.forEach(checkPart);
  else if (typeof content !== "string" && (content ?? null) !== null) {
    throw invalidMessage(`has ${kindOf(content)} as content`, "Give a string, null or a list of parts.");
  }
  if (role === "tool") checkName(toolCallId, "toolCallId", "the id of the call that it answers");
  checkList(toolCalls, "toolCalls", checkCall);
  checkList(thinking, "thinking", (thought, path) => checkText(thought.content, `${path}.content`));
}

function checkPart(part: unknown, at: number): void {
  const path = `content[${at}]`;
  if (!isObject(part) || typeof part.type !== "string") {
    throw invalidMessage(`has a part without a type as ${path}`, "Give an object with a type.");
  }
  if (part.type === "text") checkText(part.content, `${path}.content`);
  if (media.includes(part.type) && !isObject(part.source)) {
    throw invalidMessage(
      `has ${kindOf(part.source)} as ${path}.source`,
      "Give an object with a type and a value.",
    );
  }
}

function checkCall(call: Record<string, unknown>, path: string): void {
  checkName(call.id, `${path}.id`, "the id that its result names");
  const { name, arguments: input } = isObject(call.function) ? call.function : {};
  checkName(name, `${path}.function.name`, "the tool's name");
  checkText(input, `${path}.function.arguments`);
}

function checkList(
  list: unknown,
  member: string,
  check: (item: Record<string, unknown>, path: string) => void,
): void {
  if (list === undefined || list === null) return;
  if (!Array.isArray(list)) throw invalidMessage(`has ${kindOf(list)} as ${member}`, "Give a list.");
  list.forEach((item: unknown, at) => {
    if (!isObject(item)) throw invalidMessage(`has ${kindOf(item)} as ${member}[${at}]`, "Give an object.");
    check(item, `${member}[${at}]`);
  });
}

function checkText(value: unknown, path: string): void {
  if (typeof value !== "string") throw invalidMessage(`has ${kindOf(value)} as ${path}`, "Give a string.");
}

function checkName(value: unknown, path: string, what: string): void {
  if (typeof value === "string" && value !== "") return;
  throw invalidMessage(`has ${value === "" ? "an empty string" : kindOf(value)} as ${path}`, `Give ${what}.`);
}
