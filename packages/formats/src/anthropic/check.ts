import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { checkName, checkParts, checkRole, checkText } from "../checks.ts";
import { type AnyBlock, isCall, isResult } from "./blocks.ts";

const roles: readonly unknown[] = ["system", "user", "assistant"];

/** The member of a block that must be a text. */
const textMembers: ReadonlyMap<string, string> = new Map([
  ["text", "text"],
  ["thinking", "thinking"],
  ["redacted_thinking", "data"],
]);

/**
 * Refuses what the format could not work with once it is stored. Members and block types that it does not know pass:
 * they are kept as they are. Throws `INVALID_MESSAGE`, which never repeats content.
 */
export function checkMessage(message: unknown): void {
  if (!isObject(message)) throw invalidMessage(`is ${kindOf(message)}`, "Give an object with a role.");
  const { role, content } = message;
  checkRole(role, roles);
  if (message.type === "message") {
    throw invalidMessage(
      "is a whole response, which the API does not take back",
      "Give { role, content } of the response.",
    );
  }
  if (typeof content === "string") return;
  // The beta API has system messages that only change the configuration of the output.
  if (role === "system" && content === undefined && isObject(message.output_config)) return;
  if (!Array.isArray(content)) {
    throw invalidMessage(
      `of role ${role} has ${kindOf(content)} as content`,
      "Give a string or a list of blocks.",
    );
  }
  checkParts(content, "content", checkBlock);
}

function checkBlock(members: Record<string, unknown>, path: string): void {
  const block = members as unknown as AnyBlock;
  const member = textMembers.get(block.type);
  if (member !== undefined) checkText(block[member], `${path}.${member}`);
  if (isCall(block)) {
    checkName(block.id, `${path}.id`, "the id that its result names");
    checkName(block.name, `${path}.name`, "the tool's name");
  }
  if (isResult(block))
    checkName(block.tool_use_id, `${path}.tool_use_id`, "the id of the call that it answers");
  if (block.type === "tool_result" || block.type === "mcp_tool_result")
    checkNested(block.content, `${path}.content`);
  if (block.type === "search_result") checkParts(block.content, `${path}.content`, checkBlock);
  if (block.type === "web_fetch_tool_result") checkFetched(block.content, `${path}.content`);
  if (block.type !== "image" && block.type !== "document") return;
  const { source } = block;
  if (!isObject(source) || typeof source.type !== "string") {
    throw invalidMessage(`has ${kindOf(source)} as ${path}.source`, "Give an object with a type.");
  }
  if (source.type === "content") checkNested(source.content, `${path}.source.content`);
}

/** What the API fetched, or why it did not. */
function checkFetched(result: unknown, path: string): void {
  if (!isObject(result)) throw invalidMessage(`has ${kindOf(result)} as ${path}`, "Give an object.");
  const { content } = result;
  if (isObject(content) && content.type === "document") checkBlock(content, `${path}.content`);
}

/** Content that may be absent, a text or a list of blocks. */
function checkNested(content: unknown, path: string): void {
  if (content !== undefined && typeof content !== "string") checkParts(content, path, checkBlock);
}
