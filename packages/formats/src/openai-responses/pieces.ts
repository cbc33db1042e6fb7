import type { Piece } from "@turnkeep/core";
import { asText } from "../as-text.ts";
import { base64Bytes, dataUrlFacts, imageFacts, type MediaFacts } from "../media.ts";
import { type AnyItem, itemOf, partsOf } from "./any-item.ts";
import { callName } from "./calls.ts";
import type { ResponsesItem } from "./items.ts";

type Place = "content" | "tool-result";

/** What a call says, by the member that says it. */
export const inputs: Readonly<Record<string, readonly string[]>> = {
  function_call: ["arguments"],
  custom_tool_call: ["input"],
  computer_call: ["action", "actions"],
  local_shell_call: ["action"],
  shell_call: ["action"],
  apply_patch_call: ["operation"],
  tool_search_call: ["arguments"],
  web_search_call: ["action"],
  file_search_call: ["queries"],
  code_interpreter_call: ["code"],
  image_generation_call: ["revised_prompt"],
  mcp_call: ["arguments"],
  mcp_approval_request: ["arguments"],
  program: ["code"],
};

/** What answers a call, by the member that does. */
export const results: Readonly<Record<string, readonly string[]>> = {
  file_search_call: ["results"],
  mcp_call: ["output", "error"],
  mcp_approval_response: ["reason"],
  local_shell_call_output: ["output"],
  shell_call_output: ["output"],
  apply_patch_call_output: ["output"],
  tool_search_output: ["tools"],
  program_output: ["result"],
};

/** What else a model reads of an item. A reference does not tell what it stands for. */
export const contents: Readonly<Record<string, readonly string[]>> = {
  compaction: ["encrypted_content"],
  mcp_list_tools: ["tools"],
  additional_tools: ["tools"],
  configuration_update: ["text"],
  compaction_trigger: [],
  item_reference: [],
};

/** Everything of an item that a model reads. Ids, annotations and probabilities are not shown to it. */
export function piecesOf(message: ResponsesItem): readonly Piece[] {
  const item = itemOf(message);
  switch (item.type) {
    case "message":
      return contentPieces(item.content, "content");
    case "reasoning":
      return reasoningPieces(item);
    case "function_call_output":
    case "custom_tool_call_output":
      return contentPieces(item.output, "tool-result");
    case "computer_call_output":
      return [imagePiece((item.output as Partial<AnyItem> | null | undefined)?.image_url, "tool-result")];
    default:
      return otherPieces(item);
  }
}

function otherPieces(item: AnyItem): readonly Piece[] {
  const [input, result, content] = [inputs, results, contents].map((table) =>
    Object.hasOwn(table, item.type) ? table[item.type] : undefined,
  );
  if (input === undefined && result === undefined && content === undefined)
    return [text(item, item.type.endsWith("_output") ? "tool-result" : "content")];
  return [
    ...(input === undefined ? [] : [text(callName(item), "name"), ...texts(item, input, "tool-call")]),
    ...texts(item, result ?? [], "tool-result"),
    ...texts(item, content ?? [], "content"),
    ...madePieces(item),
  ];
}

/** What the API's own tools put out beside text. */
function madePieces(item: AnyItem): readonly Piece[] {
  if (item.type === "code_interpreter_call") {
    return partsOf(item.outputs).map((part) => {
      if (part.type === "logs") return text(part.logs, "tool-result");
      return part.type === "image" ? imagePiece(part.url, "tool-result") : text(part, "tool-result");
    });
  }
  if (item.type !== "image_generation_call" || typeof item.result !== "string") return [];
  const mediaType = typeof item.output_format === "string" ? `image/${item.output_format}` : "image/*";
  return [{ type: "media", mediaType, bytes: base64Bytes(item.result), of: "tool-result" }];
}

/** What the model thought as it was, else in the form that carries it, else in short. */
function reasoningPieces(item: AnyItem): readonly Piece[] {
  const thoughts = partsOf(item.content);
  if (thoughts.length === 0 && typeof item.encrypted_content === "string")
    return [text(item.encrypted_content, "reasoning")];
  const parts = thoughts.length > 0 ? thoughts : partsOf(item.summary);
  return parts.map((part) => text(part.text ?? part, "reasoning"));
}

function contentPieces(content: unknown, of: Place): readonly Piece[] {
  if (typeof content === "string") return [text(content, of)];
  return partsOf(content).map((part): Piece => {
    switch (part.type) {
      case "input_text":
      case "output_text":
        return text(part.text, of);
      case "refusal":
        return text(part.refusal, of);
      case "input_image":
        return imagePiece(part.image_url, of, part.detail);
      case "input_file":
        return { type: "media", ...fileFacts(part), of };
      default:
        return text(part, of);
    }
  });
}

function imagePiece(url: unknown, of: Place, detail?: unknown): Piece {
  return { type: "media", ...imageFacts(asText(url), detail), of };
}

function fileFacts({ file_data: data }: AnyItem): MediaFacts {
  if (typeof data !== "string") return { mediaType: undefined, bytes: undefined };
  return dataUrlFacts(data) ?? { mediaType: undefined, bytes: base64Bytes(data) };
}

function texts(item: AnyItem, members: readonly string[], of: Place | "tool-call"): readonly Piece[] {
  return members.filter((member) => asText(item[member]) !== "").map((member) => text(item[member], of));
}

function text(value: unknown, of: Place | "reasoning" | "name" | "tool-call"): Piece {
  return { type: "text", text: asText(value), of };
}
