import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { checkName, checkRole, checkText } from "../checks.ts";
import { type AnyPart, type DataMember, dataOf } from "./parts.ts";

const roles: readonly unknown[] = ["system", "user", "model", "function"];

/**
 * Refuses what the format could not work with once it is stored. Members and kinds of parts that it does not know pass:
 * they are kept as they are. Throws `INVALID_MESSAGE`, which never repeats content.
 */
export function checkContent(content: unknown): void {
  if (!isObject(content))
    throw invalidMessage(`is ${kindOf(content)}`, "Give an object with a role and parts.");
  const { role, parts } = content;
  if (role !== undefined) checkRole(role, roles);
  // An answer that was cut off before it said anything has none.
  if (parts === undefined) {
    if (role === "model") return;
    throw invalidMessage("has no parts", "Give a list of parts, such as { text }.");
  }
  if (!Array.isArray(parts)) throw invalidMessage(`has ${kindOf(parts)} as parts`, "Give a list of parts.");
  parts.forEach((part: unknown, at) => {
    if (!isObject(part))
      throw invalidMessage(`has ${kindOf(part)} as parts[${at}]`, "Give an object, such as { text }.");
    checkPart(part, `parts[${at}]`);
  });
}

function checkPart(part: AnyPart, path: string): void {
  const [kind, spelt] = dataOf(part) ?? [];
  if (kind === undefined || spelt === undefined) return;
  const data = part[spelt];
  if (kind === "text") checkText(data, `${path}.${spelt}`);
  else checkData(kind, data, `${path}.${spelt}`);
}

function checkData(kind: DataMember, data: unknown, path: string): void {
  if (!isObject(data)) throw invalidMessage(`has ${kindOf(data)} as ${path}`, "Give an object.");
  if (kind === "functionCall" || kind === "functionResponse")
    checkName(data.name, `${path}.name`, "the function's name");
  if (kind !== "functionResponse" || (data.parts ?? undefined) === undefined) return;
  const { parts } = data;
  if (!Array.isArray(parts) || !parts.every(isObject))
    throw invalidMessage(`has ${kindOf(parts)} as ${path}.parts`, "Give a list of objects.");
}
