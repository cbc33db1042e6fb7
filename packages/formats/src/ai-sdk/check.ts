import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { checkName, checkParts, checkRole, checkText } from "../checks.ts";

const roles: readonly unknown[] = ["system", "user", "assistant"];

/** The members that must be texts. */
const textMembers: ReadonlyMap<string, readonly string[]> = new Map([
  ["text", ["text"]],
  ["reasoning", ["text"]],
  ["file", ["url", "mediaType"]],
  ["reasoning-file", ["url", "mediaType"]],
  ["custom", ["kind"]],
]);

/**
 * Refuses what the format could not work with once it is stored. Members and part types that it does not know pass:
 * they are kept as they are. Throws `INVALID_MESSAGE`, which never repeats content.
 */
export function checkMessage(message: unknown): void {
  if (!isObject(message))
    throw invalidMessage(`is ${kindOf(message)}`, "Give an object with id, role and parts.");
  checkText(message.id, "id");
  checkRole(message.role, roles);
  checkParts(message.parts, "parts", checkPart);
}

function checkPart(part: Record<string, unknown>, path: string): void {
  const type = part.type as string;
  for (const member of textMembers.get(type) ?? []) checkText(part[member], `${path}.${member}`);
  if (type === "steering-message") checkParts(part.parts, `${path}.parts`, checkPart);
  if (type !== "dynamic-tool" && !type.startsWith("tool-")) return;
  checkName(part.toolCallId, `${path}.toolCallId`, "the id of the call");
  checkName(part.state, `${path}.state`, "how far the call has come");
  if (type === "dynamic-tool") checkName(part.toolName, `${path}.toolName`, "the tool's name");
  if (part.state === "output-error") checkText(part.errorText, `${path}.errorText`);
  const { approval } = part;
  if (approval === undefined || approval === null) return;
  if (!isObject(approval))
    throw invalidMessage(`has ${kindOf(approval)} as ${path}.approval`, "Give an object with an id.");
  checkName(approval.id, `${path}.approval.id`, "the approval's id");
}
