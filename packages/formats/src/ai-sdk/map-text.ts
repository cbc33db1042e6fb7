import { withMember } from "@turnkeep/core/format-kit";
import { type Change, mapList, mapMember, mapProviderValue, mapUnknownPart, mapValue } from "../reshape.ts";
import type { ConvertDataPart, UIMessageLike } from "./messages.ts";
import {
  type AnyPart,
  isAnswered,
  isCall,
  isCompaction,
  isData,
  isFile,
  isUnseen,
  partsOf,
  steeringParts,
  type ToolPart,
} from "./parts.ts";
import { denied } from "./pieces.ts";

export function mapText<M extends UIMessageLike>(
  message: M,
  change: Change,
  convertDataPart: ConvertDataPart,
): M {
  return withMember(
    message,
    "parts",
    mapList(partsOf(message), (part) => mapPart(part, change, convertDataPart)),
  );
}

function mapPart(part: AnyPart, change: Change, convertDataPart: ConvertDataPart): AnyPart {
  if (isUnseen(part) || isFile(part) || isCompaction(part)) return part;
  if (isCall(part)) return mapTool(part, change);
  if (isData(part)) return mapData(part, change, convertDataPart);
  switch (part.type) {
    case "text":
      return mapMember(part, "text", "content", change);
    case "reasoning":
      return mapMember(part, "text", "reasoning", change);
    case "steering-message": {
      const parts = mapList(steeringParts(part), (inner) => mapPart(inner, change, convertDataPart));
      return withMember(part, "parts", parts);
    }
    default:
      return mapUnknownPart(part, "content", change, (text) => ({ type: "text", text }));
  }
}

/** Where what the model would read of a data part changed, that stands in its place. */
function mapData(part: AnyPart, change: Change, convertDataPart: ConvertDataPart): AnyPart {
  const converted = convertDataPart(part as never) as AnyPart | undefined;
  if (!converted) return part;
  const changed = mapPart(converted, change, () => undefined);
  return changed === converted ? part : changed;
}

function mapTool(part: ToolPart, change: Change): ToolPart {
  const isRaw = part.state === "output-error" && (part.input ?? undefined) === undefined;
  const member = isRaw && part.rawInput !== undefined ? "rawInput" : "input";
  const called = withMember(part, member, mapValue(part[member], "tool-call", change, true));
  if (!isAnswered(part)) return called;
  if (part.state === "output-available") {
    return part.providerExecuted === true
      ? withMember(called, "output", mapProviderValue(part.output, change))
      : mapMember(called, "output", "tool-result", change);
  }
  if (part.state === "output-error") return mapMember(called, "errorText", "tool-result", change);
  const before = (part.approval?.reason ?? denied) as string;
  const reason = mapValue(before, "tool-result", change);
  if (reason === before || !part.approval) return called;
  return withMember(called, "approval", { ...part.approval, reason });
}
