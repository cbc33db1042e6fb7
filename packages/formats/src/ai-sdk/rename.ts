import type { CallPlace } from "@turnkeep/core";
import { Visitor, withMember } from "@turnkeep/core/format-kit";
import type { UIMessageLike } from "./messages.ts";
import { type AnyUIPart, isCall, isTool, toolNameOf } from "./parts.ts";

type Rename<Of extends unknown[]> = (name: string, ...of: Of) => string;

const plain = new Visitor();

/** A call that still streams is none yet, so that it takes the name of no other. */
export function renameCalls<M extends UIMessageLike>(message: M, rename: Rename<[of?: CallPlace]>): M {
  return plain.list(message, "parts", withOtherId, rename);
}

function withOtherId(part: AnyUIPart, _at: Visitor, rename: Rename<[of?: CallPlace]>): AnyUIPart {
  if (!isTool(part) || part.providerExecuted === true) return part;
  return withMember(part, "toolCallId", rename(part.toolCallId, isCall(part) ? "call" : undefined));
}

export function renameTools<M extends UIMessageLike>(message: M, rename: Rename<[]>): M {
  return plain.list(message, "parts", withOtherName, rename);
}

function withOtherName(part: AnyUIPart, _at: Visitor, rename: Rename<[]>): AnyUIPart {
  if (!isTool(part) || part.providerExecuted === true) return part;
  const name = rename(toolNameOf(part));
  return part.type === "dynamic-tool"
    ? withMember(part, "toolName", name)
    : withMember(part, "type", `tool-${name}`);
}
