import type { AgentInputItem } from "@openai/agents-core";
import { type TextKind, type Visit, type Visitor, withMember } from "@turnkeep/core/format-kit";
import {
  callName,
  callShape,
  decidedId,
  hostedCall,
  hostedRequest,
  hostedResponse,
  hostedResult,
  resultShape,
} from "./calls.ts";
import { type AnyItem, isCall, isName, isResult, typeOf } from "./items.ts";
import { mediaPiece } from "./media.ts";

/** Everything of an item that a model reads. Ids, statuses and other data of a provider are not shown to it. */
export const visitItem: Visit<AgentInputItem> = (message, at) =>
  visitTyped(message as unknown as AnyItem, at, typeOf(message)) as AgentInputItem | undefined;

function visitTyped(item: AnyItem, at: Visitor, type: string): AnyItem | undefined {
  if (isCall(type)) return visitCall(item, at);
  if (isResult(type)) return visitResult(item, at);
  switch (type) {
    case "message":
      return visitContent(item, "content", at, item.role === "assistant" ? said : asked);
    case "reasoning":
      return visitReasoning(item, at);
    case "hosted_tool_call":
      return visitHosted(item, at);
    case "compaction":
      at.boundary(item);
      return visitMember(at.present(item), "encrypted_content", "content", at, "sealed");
    default:
      return visitUnknown(item, at);
  }
}

/** Where content stands, and what a part of an unknown type becomes if its text is no longer such a part. */
interface Place {
  readonly of: "content" | "tool-result";
  readonly textPart: (text: string) => AnyItem;
}

const inputPart = (text: string): AnyItem => ({ type: "input_text", text });
const asked: Place = { of: "content", textPart: inputPart };
const said: Place = { of: "content", textPart: (text) => ({ type: "output_text", text }) };
const putOut: Place = { of: "tool-result", textPart: inputPart };

/** `undefined` if nothing of the content is left. */
function visitContent(item: AnyItem, member: string, at: Visitor, place: Place): AnyItem | undefined {
  const content = item[member];
  if (typeof content === "string") return at.textPart(item, member, place.of);
  if (!Array.isArray(content)) return item;
  const visited = at.list(item, member, visitPart, place);
  return visited === item || (visited[member] as unknown[]).length > 0 ? visited : undefined;
}

const media: ReadonlySet<string> = new Set([
  ...["audio", "computer_screenshot", "file", "image", "input_file", "input_image"],
]);

function visitPart(part: AnyItem, at: Visitor, { of, textPart }: Place): AnyItem | undefined {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
      return at.textPart(part, "text", of);
    case "refusal":
      return at.textPart(part, "refusal", of);
    default:
      if (!media.has(part.type)) return at.unknown(part, of, textPart);
      return at.media(at.fileName(part, "filename"), of, mediaPiece, textPart);
  }
}

/** What the model thought as it was, else in the form that carries it, else in short. */
function visitReasoning(item: AnyItem, at: Visitor): AnyItem | undefined {
  const kept = at.reasoning(item);
  if (kept === undefined) return undefined;
  const thoughts = kept.rawContent;
  if (Array.isArray(thoughts) && thoughts.length > 0)
    return at.list(kept, "rawContent", visitThought, undefined);
  const sealed = sealedMember(kept);
  if (sealed === undefined) return at.list(kept, "content", visitThought, undefined);
  const data = at.text(kept.providerData as object, sealed, "reasoning", "sealed");
  return withMember(kept, "providerData", data);
}

function sealedMember({ providerData }: AnyItem): string | undefined {
  const data = (providerData ?? {}) as Readonly<Record<string, unknown>>;
  return ["encryptedContent", "encrypted_content"].find((member) => isName(data[member]));
}

function visitThought(part: AnyItem, at: Visitor): AnyItem {
  return typeof part.text === "string"
    ? at.text(part, "text", "reasoning")
    : at.unknown(part, "reasoning", (text) => ({ ...part, text }));
}

/** The members that say what a call asks for. */
const callMembers = ["arguments", "action", "actions", "operation", "code"];

function visitCall(item: AnyItem, at: Visitor): AnyItem | undefined {
  const shape = callShape(item);
  const kept = shape === undefined ? at.present(item) : at.call(item, shape);
  if (kept === undefined) return undefined;
  at.name(callName(item));
  return callMembers.reduce((copy, member) => visitMember(copy, member, "tool-call", at), kept);
}

function visitResult(item: AnyItem, at: Visitor): AnyItem | undefined {
  const shape = resultShape(item);
  const kept = shape === undefined ? at.present(item) : at.result(item, shape);
  if (kept === undefined) return undefined;
  if (item.type === "function_call_result") return visitOutput(kept, at);
  if (item.type === "computer_call_result") {
    // A screenshot is all that it can be.
    const screenshot = at.media(kept.output as AnyItem, "tool-result", mediaPiece);
    return screenshot === undefined ? kept : withMember(kept, "output", screenshot);
  }
  return ["output", "tools"].reduce((copy, member) => visitMember(copy, member, "tool-result", at), kept);
}

/** A text, a list of parts, or one part alone. It stays an answer. */
function visitOutput(item: AnyItem, at: Visitor): AnyItem {
  const { output } = item;
  if (typeof output === "string" || Array.isArray(output)) {
    return visitContent(at.told(item, "output", false), "output", at, putOut) ?? { ...item, output: "" };
  }
  const visited = visitPart(output as AnyItem, at, {
    of: "tool-result",
    textPart: (text) => ({ type: "text", text }),
  });
  return withMember(item, "output", visited ?? "");
}

/** A request of an MCP server waits for a decision; what else the provider runs holds its result. */
function visitHosted(item: AnyItem, at: Visitor): AnyItem | undefined {
  if (decidedId(item) !== undefined && item.name === "mcp_approval_response") {
    return at.approval(item, hostedResponse);
  }
  const called = isName(item.id) ? at.call(item, hostedCall) : at.present(item);
  if (called === undefined) return undefined;
  at.name(callName(item));
  const told = visitMember(called, "arguments", "tool-call", at);
  if (item.name === "mcp_approval_request") return isName(item.id) ? at.approval(told, hostedRequest) : told;
  const kept = isName(item.id) ? at.result(told, hostedResult) : told;
  if (kept === undefined) return undefined;
  const output = visitMember(kept, "output", "tool-result", at);
  return visitMember(output, "providerData", "tool-result", at, "provider");
}

/** What the protocol does not know is kept in `providerData`. */
function visitUnknown(item: AnyItem, at: Visitor): AnyItem {
  return visitMember(at.present(item), "providerData", "content", at);
}

/** The protocol knows the kind of each member: a list stays one, and an object an object. */
function visitMember(
  item: AnyItem,
  member: string,
  of: Place["of"] | "tool-call",
  at: Visitor,
  kind: TextKind = "json",
): AnyItem {
  return (item[member] ?? "") === "" ? item : at.text(item, member, of, kind);
}
