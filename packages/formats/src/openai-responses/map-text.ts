import type { TextPlace } from "@turnkeep/core";
import { withMember } from "@turnkeep/core/format-kit";
import { asText } from "../as-text.ts";
import { type Change, mapList, mapMember, mapUnknownPart, mapValue } from "../reshape.ts";
import { type AnyItem, isMedia, itemOf, partsOf } from "./any-item.ts";
import type { ResponsesItem } from "./items.ts";
import { contents, inputs, results } from "./pieces.ts";

type Place = "content" | "tool-result";

export function mapText(message: ResponsesItem, change: Change): ResponsesItem {
  const item = itemOf(message);
  switch (item.type) {
    case "message": {
      const type = item.role === "assistant" ? "output_text" : "input_text";
      return mapContent(message, "content", "content", change, type);
    }
    case "reasoning":
      return mapReasoning(message, item, change);
    case "function_call_output":
    case "custom_tool_call_output":
      return mapContent(message, "output", "tool-result", change, "input_text");
    case "compaction":
    case "computer_call_output":
      return message;
    default:
      return mapOther(message, item, change);
  }
}

function mapContent(
  message: ResponsesItem,
  member: string,
  of: Place,
  change: Change,
  textType: string,
): ResponsesItem {
  const content = (message as unknown as AnyItem)[member];
  if (typeof content === "string") return mapMember(message, member, of, change);
  const parts = mapList(partsOf(content), (part) => mapPart(part, of, change, textType));
  return parts === partsOf(content) || !Array.isArray(content) ? message : withMember(message, member, parts);
}

function mapPart(part: AnyItem, of: Place, change: Change, textType: string): AnyItem {
  if (part.type === "input_text" || part.type === "output_text") return mapMember(part, "text", of, change);
  if (part.type === "refusal") return mapMember(part, "refusal", of, change);
  // A part `image` is media only among the outputs of the code interpreter.
  if (isMedia(part) && part.type !== "image") return part;
  const extra = textType === "output_text" ? { annotations: [] } : {};
  return mapUnknownPart(part, of, change, (text) => ({ type: textType, text, ...extra }));
}

/** What the API encrypted goes back as it was. */
function mapReasoning(message: ResponsesItem, item: AnyItem, change: Change): ResponsesItem {
  const thoughts = partsOf(item.content);
  if (thoughts.length === 0 && typeof item.encrypted_content === "string") return message;
  const member = thoughts.length > 0 ? "content" : "summary";
  const parts = partsOf(item[member]);
  const changed = mapList(parts, (part) => {
    if (part.text !== undefined && part.text !== null) return mapMember(part, "text", "reasoning", change);
    return mapUnknownPart(part, "reasoning", change, (text) => ({ ...part, text }));
  });
  return changed === parts ? message : withMember(message, member, changed);
}

function mapOther(message: ResponsesItem, item: AnyItem, change: Change): ResponsesItem {
  const [input, result, content] = [inputs, results, contents].map((table) =>
    Object.hasOwn(table, item.type) ? (table[item.type] ?? []) : undefined,
  );
  if (input === undefined && result === undefined && content === undefined) {
    const of = item.type.endsWith("_output") ? "tool-result" : "content";
    return mapUnknownItem(message, item, of, change);
  }
  let copy = mapMembers(message, input ?? [], "tool-call", change);
  copy = mapMembers(copy, result ?? [], "tool-result", change);
  copy = mapMembers(copy, content ?? [], "content", change);
  return item.type === "code_interpreter_call" ? mapOutputs(copy, item, change) : copy;
}

/** The API knows the kind of each of these members: a list stays one, and an object an object. */
function mapMembers(
  message: ResponsesItem,
  members: readonly string[],
  of: TextPlace,
  change: Change,
): ResponsesItem {
  return members.reduce((copy, member) => {
    const value = (copy as unknown as AnyItem)[member];
    return asText(value) === "" ? copy : withMember(copy, member, mapValue(value, of, change, true));
  }, message);
}

function mapOutputs(message: ResponsesItem, item: AnyItem, change: Change): ResponsesItem {
  const outputs = partsOf(item.outputs);
  const changed = mapList(outputs, (part) => {
    if (part.type === "logs") return mapMember(part, "logs", "tool-result", change);
    if (part.type === "image") return part;
    return mapUnknownPart(part, "tool-result", change, (logs) => ({ type: "logs", logs }));
  });
  return changed === outputs ? message : withMember(message, "outputs", changed);
}

/** Changed as a whole; what tells the item from others stays. */
function mapUnknownItem(message: ResponsesItem, item: AnyItem, of: TextPlace, change: Change): ResponsesItem {
  const changed = mapValue(item, of, change, true);
  if (changed === item) return message;
  const identity = ["type", "id", "call_id", "approval_request_id", "role", "name"].filter((name) =>
    Object.hasOwn(item, name),
  );
  const kept = Object.fromEntries(identity.map((name) => [name, item[name]]));
  return { ...(changed as object), ...kept } as unknown as ResponsesItem;
}
