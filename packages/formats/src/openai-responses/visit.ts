import type { Piece } from "@turnkeep/core";
import {
  asText,
  base64Bytes,
  dataUrlFacts,
  type TextKind,
  type Visit,
  type Visitor,
} from "@turnkeep/core/format-kit";
import { base64Facts, imageFacts } from "../media.ts";
import { visitUnknownPart } from "../unknown-part.ts";
import { type AnyItem, partsOf, typeOf } from "./any-item.ts";
import {
  approvalRequest,
  approvalResponse,
  call,
  callId,
  callName,
  holdsResult,
  idIn,
  ownResult,
  requestResult,
  result,
  shellResult,
} from "./calls.ts";
import type { ResponsesItem } from "./items.ts";

/** Everything of an item that a model reads. Ids, annotations and probabilities are not shown to it. */
export const visitItem: Visit<ResponsesItem> = (message, at) =>
  visitTyped(message as unknown as AnyItem, at, typeOf(message)) as ResponsesItem | undefined;

function visitTyped(item: AnyItem, at: Visitor, type: string): AnyItem | undefined {
  switch (type) {
    case "message":
      return visitMessage(item, at);
    case "reasoning":
      return visitReasoning(item, at);
    case "compaction":
      at.boundary(item);
      return visitMembers(at.present(item), ["encrypted_content"], "content", at, "sealed");
    case "mcp_approval_response": {
      const kept = at.approval(item, approvalResponse);
      return kept && visitMembers(kept, ["reason"], "tool-result", at);
    }
    case "mcp_list_tools":
    case "additional_tools":
      return visitMembers(at.present(item), ["tools"], "content", at);
    case "configuration_update":
      return visitMembers(at.present(item), ["text"], "content", at);
    // A reference does not tell what it stands for.
    case "compaction_trigger":
    case "item_reference":
      return at.present(item);
    default:
      if (type.endsWith("_output")) return visitOutput(item, at);
      return callMembers.has(type) || type.endsWith("_call")
        ? visitCall(item, at)
        : visitUnknown(item, "content", at);
  }
}

/** Where content stands, and what a part of an unknown type becomes if its text is no longer such a part. */
interface ContentPlace {
  readonly of: "content" | "tool-result";
  readonly textPart: (text: string) => AnyItem;
}

const inputPart = (text: string): AnyItem => ({ type: "input_text", text });
const outputPart = (text: string): AnyItem => ({ type: "output_text", text, annotations: [] });
const input: ContentPlace = { of: "content", textPart: inputPart };
const output: ContentPlace = { of: "content", textPart: outputPart };
const toolOutput: ContentPlace = { of: "tool-result", textPart: inputPart };

/** Only a message can be empty. */
function visitMessage(item: AnyItem, at: Visitor): AnyItem | undefined {
  return visitContent(item, "content", at, item.role === "assistant" ? output : input);
}

/** `undefined` if nothing of the content is left. */
function visitContent(item: AnyItem, member: string, at: Visitor, place: ContentPlace): AnyItem | undefined {
  const content = item[member];
  if (typeof content === "string") return at.textPart(item, member, place.of);
  if (!Array.isArray(content)) return item;
  const visited = at.list(item, member, visitPart, place);
  return visited === item || partsOf(visited[member]).length > 0 ? visited : undefined;
}

function visitPart(part: AnyItem, at: Visitor, { of, textPart }: ContentPlace): AnyItem | undefined {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return at.textPart(part, "text", of);
    case "refusal":
      return at.textPart(part, "refusal", of);
    case "input_image":
      return at.media(part, of, imagePiece, textPart);
    case "input_file":
      return at.media(part, of, filePiece, textPart);
    default:
      return at.unknown(part, of, textPart);
  }
}

/** What the model thought as it was, else in the form that carries it, else in short. */
function visitReasoning(item: AnyItem, at: Visitor): AnyItem | undefined {
  const kept = at.reasoning(item);
  if (kept === undefined) return undefined;
  const hasThoughts = partsOf(kept.content).length > 0;
  if (!hasThoughts && typeof kept.encrypted_content === "string")
    return at.text(kept, "encrypted_content", "reasoning", "sealed");
  return visitList(kept, hasThoughts ? "content" : "summary", at, visitThought);
}

function visitThought(part: AnyItem, at: Visitor): AnyItem {
  return (part.text ?? undefined) === undefined
    ? at.unknown(part, "reasoning", (text) => ({ ...part, text }))
    : at.text(part, "text", "reasoning");
}

/** The members that say what a call asks for. */
const callMembers: ReadonlyMap<string, readonly string[]> = new Map([
  ["function_call", ["arguments"]],
  ["custom_tool_call", ["input"]],
  ["computer_call", ["action", "actions"]],
  ["local_shell_call", ["action"]],
  ["shell_call", ["action"]],
  ["apply_patch_call", ["operation"]],
  ["tool_search_call", ["arguments"]],
  ["web_search_call", ["action"]],
  ["file_search_call", ["queries"]],
  ["code_interpreter_call", ["code"]],
  ["image_generation_call", ["revised_prompt"]],
  ["mcp_call", ["arguments"]],
  ["mcp_approval_request", ["arguments"]],
  ["program", ["code"]],
]);

function visitCall(item: AnyItem, at: Visitor): AnyItem | undefined {
  const kept = callId(item) === undefined ? at.present(item) : at.call(item, call);
  const answered = kept && holdsResult(item) ? visitOwnResult(kept, at) : kept;
  if (answered === undefined) return undefined;
  const members = callMembers.get(item.type);
  if (members === undefined) return visitUnknown(answered, "content", at);
  at.name(callName(item));
  return visitMade(visitMembers(answered, members, "tool-call", at), at);
}

/** A call that was approved also answers the request, and stays without it. */
function visitOwnResult(item: AnyItem, at: Visitor): AnyItem | undefined {
  const kept = idIn(item, "id") === undefined ? item : at.result(item, ownResult);
  const isRequested = idIn(item, "approval_request_id") !== undefined;
  if (!isRequested || at.result(item, requestResult) !== undefined || kept === undefined) return kept;
  const { approval_request_id: _, ...rest } = kept;
  return rest as AnyItem;
}

/** What the API's own tools put out; a request waits for an answer instead. */
function visitMade(item: AnyItem, at: Visitor): AnyItem | undefined {
  switch (item.type) {
    case "mcp_approval_request":
      return at.approval(item, approvalRequest);
    case "mcp_call":
      return visitMembers(item, ["output", "error"], "tool-result", at);
    case "file_search_call":
      return visitMembers(item, ["results"], "tool-result", at);
    case "code_interpreter_call":
      return visitList(item, "outputs", at, visitInterpreted);
    case "image_generation_call":
      // The API knows of no image that was not made.
      return typeof item.result === "string"
        ? at.media(item, "tool-result", madeImagePiece)
        : at.unsent(item);
    default:
      return item;
  }
}

function visitInterpreted(part: AnyItem, at: Visitor): AnyItem | undefined {
  switch (part.type) {
    case "logs":
      return at.text(part, "logs", "tool-result");
    case "image":
      return at.media(part, "tool-result", linkedImagePiece);
    default:
      return at.unknown(part, "tool-result", (logs) => ({ type: "logs", logs }));
  }
}

function visitOutput(item: AnyItem, at: Visitor): AnyItem | undefined {
  const kept = visitResult(item, at);
  if (kept === undefined) return undefined;
  switch (item.type) {
    case "function_call_output":
    case "custom_tool_call_output":
      // It stays an answer.
      return (
        visitContent(at.told(kept, "output", false), "output", at, toolOutput) ?? { ...kept, output: "" }
      );
    case "computer_call_output":
      // A screenshot is all that it can be.
      return at.media(kept, "tool-result", screenshotPiece) ?? kept;
    case "local_shell_call_output":
    case "shell_call_output":
    case "apply_patch_call_output":
      return visitMembers(kept, ["output"], "tool-result", at);
    case "tool_search_output":
      return visitMembers(kept, ["tools"], "tool-result", at);
    case "program_output":
      return visitMembers(kept, ["result"], "tool-result", at);
    default:
      return visitUnknown(kept, "tool-result", at);
  }
}

function visitResult(item: AnyItem, at: Visitor): AnyItem | undefined {
  if (idIn(item, "call_id") !== undefined) return at.result(item, result);
  const isShells = item.type === "local_shell_call_output" && idIn(item, "id") !== undefined;
  return isShells ? at.result(item, shellResult) : at.present(item);
}

/** What tells an item from others, and by what another finds it. */
const identity = ["type", "id", "call_id", "approval_request_id", "role", "name"];

function visitUnknown(item: AnyItem, of: ContentPlace["of"], at: Visitor): AnyItem {
  return visitUnknownPart(at.present(item), of, identity, at);
}

/** Of those members that are there. The API knows the kind of each: a list stays one, and an object an object. */
function visitMembers(
  item: AnyItem,
  members: readonly string[],
  of: ContentPlace["of"] | "tool-call",
  at: Visitor,
  kind: TextKind = "json",
): AnyItem {
  return members.reduce(
    (copy, member) => ((copy[member] ?? "") === "" ? copy : at.text(copy, member, of, kind)),
    item,
  );
}

/** Where the member is a list. */
function visitList(
  item: AnyItem,
  member: string,
  at: Visitor,
  visit: (part: AnyItem, at: Visitor) => AnyItem | undefined,
): AnyItem {
  return Array.isArray(item[member]) ? at.list(item, member, visit, undefined) : item;
}

function imagePiece({ image_url: url, detail }: AnyItem, of: ContentPlace["of"]): Piece {
  return { type: "media", ...imageFacts(asText(url ?? ""), detail), of };
}

function linkedImagePiece({ url }: AnyItem, of: "tool-result"): Piece {
  return { type: "media", ...imageFacts(asText(url)), of };
}

function screenshotPiece({ output }: AnyItem, of: "tool-result"): Piece {
  return { type: "media", ...imageFacts(asText((output as Partial<AnyItem> | null)?.image_url ?? "")), of };
}

function madeImagePiece({ output_format: format, result }: AnyItem, of: "tool-result"): Piece {
  const mediaType = typeof format === "string" ? `image/${format}` : "image/*";
  return { type: "media", mediaType, bytes: base64Bytes(result as string), of };
}

function filePiece({ file_data: data }: AnyItem, of: ContentPlace["of"]): Piece {
  if (typeof data !== "string") return { type: "media", mediaType: undefined, bytes: undefined, of };
  const facts = dataUrlFacts(data) ?? base64Facts(data);
  return { type: "media", ...facts, of };
}
