import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { checkName, checkRole, checkText } from "../checks.ts";

const roles: readonly unknown[] = ["system", "user", "assistant", "tool"];

/**
 * Refuses what the format could not work with once it is stored. Members that it does not know pass: they are kept as they
 * are. Throws `INVALID_MESSAGE`, which never repeats content.
 */
export function checkMessage(message: unknown): void {
  if (!isObject(message)) throw invalidMessage(`is ${kindOf(message)}`, "Give an object with a role.");
  const { role, content, images, thinking, tool_calls: calls, tool_call_id: id, tool_name: name } = message;
  checkRole(role, roles);
  checkText(content, "content");
  if ((thinking ?? undefined) !== undefined) checkText(thinking, "thinking");
  if ((images ?? undefined) !== undefined) checkImages(images);
  if ((calls ?? undefined) !== undefined) checkCalls(calls);
  if (role !== "tool") return;
  if (name !== undefined) checkText(name, "tool_name");
  if (!id && !name)
    throw invalidMessage(
      "of role tool names no call",
      "Give tool_name, the name of the tool that it answers.",
    );
}

function checkImages(images: unknown): void {
  if (!Array.isArray(images)) throw invalidMessage(`has ${kindOf(images)} as images`, "Give a list.");
  images.forEach((image: unknown, at) => {
    if (typeof image !== "string" && !(image instanceof Uint8Array))
      throw invalidMessage(`has ${kindOf(image)} as images[${at}]`, "Give base64 or bytes.");
  });
}

function checkCalls(calls: unknown): void {
  if (!Array.isArray(calls)) throw invalidMessage(`has ${kindOf(calls)} as tool_calls`, "Give a list.");
  calls.forEach((call: unknown, at) => {
    const called = isObject(call) ? call.function : undefined;
    if (!isObject(called))
      throw invalidMessage(
        `has ${kindOf(called)} as tool_calls[${at}].function`,
        "Give an object with a name.",
      );
    checkName(called.name, `tool_calls[${at}].function.name`, "the tool's name");
  });
}
