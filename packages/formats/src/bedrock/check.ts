import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { checkName, checkRole, checkText } from "../checks.ts";
import { type AnyBlock, type BlockKind, isMediaKind, kindOfBlock } from "./blocks.ts";

const roles: readonly unknown[] = ["system", "user", "assistant"];

/**
 * Refuses what the format could not work with once it is stored. Members and kinds of blocks that it does not know pass:
 * they are kept as they are. Throws `INVALID_MESSAGE`, which never repeats content.
 */
export function checkMessage(message: unknown): void {
  if (!isObject(message)) throw invalidMessage(`is ${kindOf(message)}`, "Give an object with a role.");
  checkRole(message.role, roles);
  checkBlocks(message.content, "content");
}

function checkBlocks(blocks: unknown, path: string): void {
  if (!Array.isArray(blocks))
    throw invalidMessage(`has ${kindOf(blocks)} as ${path}`, "Give a list of blocks, such as { text }.");
  blocks.forEach((block: unknown, at) => {
    if (!isObject(block))
      throw invalidMessage(`has ${kindOf(block)} as ${path}[${at}]`, "Give an object, such as { text }.");
    checkBlock(block, `${path}[${at}]`);
  });
}

function checkBlock(block: AnyBlock, path: string): void {
  const kind = kindOfBlock(block);
  if (kind === undefined || kind === "json") return;
  const of = `${path}.${kind}`;
  const data = block[kind];
  if (kind === "text") checkText(data, of);
  else checkData(kind, data, of);
}

function checkData(kind: BlockKind, data: unknown, of: string): void {
  if (!isObject(data)) throw invalidMessage(`has ${kindOf(data)} as ${of}`, "Give an object.");
  if (kind === "toolUse") {
    checkName(data.toolUseId, `${of}.toolUseId`, "the id that its result names");
    checkName(data.name, `${of}.name`, "the tool's name");
  }
  if (kind === "toolResult") {
    checkName(data.toolUseId, `${of}.toolUseId`, "the id of the call that it answers");
    if ((data.content ?? undefined) !== undefined) checkBlocks(data.content, `${of}.content`);
  }
  if (isMediaKind(kind)) {
    if (!isObject(data.source))
      throw invalidMessage(
        `has ${kindOf(data.source)} as ${of}.source`,
        "Give an object, such as { bytes }.",
      );
    if (Array.isArray(data.source.content)) checkBlocks(data.source.content, `${of}.source.content`);
  }
  if (kind === "citationsContent" || kind === "searchResult") {
    if ((data.content ?? undefined) !== undefined) checkBlocks(data.content, `${of}.content`);
  }
}
