import type { Piece } from "@turnkeep/core";
import { asText } from "../as-text.ts";
import { imageFacts } from "../media.ts";
import type { ConvertDataPart, UIMessageLike } from "./messages.ts";
import {
  type AnyPart,
  isAnswered,
  isCall,
  isData,
  isUnseen,
  partsOf,
  steeringParts,
  type ToolPart,
  toolNameOf,
} from "./parts.ts";

/** What the SDK says where a denial gives no reason. */
export const denied = "Tool call execution denied.";

/** Everything of a message that a model reads, once the SDK has converted it. */
export function piecesOf(message: UIMessageLike, convertDataPart: ConvertDataPart): readonly Piece[] {
  return partsOf(message).flatMap((part) => partPieces(part, convertDataPart));
}

function partPieces(part: AnyPart, convertDataPart: ConvertDataPart): readonly Piece[] {
  if (isUnseen(part)) return [];
  if (isCall(part)) return toolPieces(part);
  if (isData(part)) {
    const converted = convertDataPart(part) as AnyPart | undefined;
    return converted ? partPieces(converted, () => undefined) : [];
  }
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text as string, of: "content" }];
    case "reasoning":
      return [{ type: "text", text: part.text as string, of: "reasoning" }];
    case "file":
      return [mediaPiece(part, "content")];
    case "reasoning-file":
      return [mediaPiece(part, "reasoning")];
    case "steering-message":
      return steeringParts(part).flatMap((inner) => partPieces(inner, convertDataPart));
    default:
      return [{ type: "text", text: asText(part), of: "content" }];
  }
}

function toolPieces(part: ToolPart): readonly Piece[] {
  const name: Piece = { type: "text", text: toolNameOf(part), of: "name" };
  const input = part.input ?? (part.state === "output-error" ? part.rawInput : undefined);
  const call: Piece = { type: "text", text: asText(input), of: "tool-call" };
  if (!isAnswered(part)) return [name, call];
  return [name, call, name, { type: "text", text: asText(resultOf(part)), of: "tool-result" }];
}

function resultOf(part: ToolPart): unknown {
  if (part.state === "output-available") return part.output;
  return part.state === "output-error" ? part.errorText : (part.approval?.reason ?? denied);
}

function mediaPiece(part: AnyPart, of: "content" | "reasoning"): Piece {
  // A file that the provider already has is sent by its reference; `data` is what a data part may have become.
  const source = part.providerReference === undefined ? (part.url ?? part.data) : undefined;
  const facts = typeof source === "string" ? imageFacts(source) : { bytes: undefined };
  return { type: "media", ...facts, mediaType: part.mediaType as string, of };
}
