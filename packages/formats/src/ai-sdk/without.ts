import type { Omission } from "@turnkeep/core";
import type { ConvertDataPart, UIMessageLike } from "./messages.ts";
import {
  type AnyPart,
  isAnswered,
  isCall,
  isData,
  isFile,
  isReasoning,
  isUnseen,
  partsOf,
  steeringParts,
  type ToolPart,
} from "./parts.ts";

/** Whether the SDK would send nothing of the message. */
export function isEmptyMessage(message: UIMessageLike, convertDataPart: ConvertDataPart): boolean {
  return partsOf(message).every((part) => isEmptyPart(part, convertDataPart));
}

function isEmptyPart(part: AnyPart, convertDataPart: ConvertDataPart): boolean {
  if (isUnseen(part)) return true;
  if (part.type === "text") return (part.text as string).trim() === "";
  if (part.type === "steering-message")
    return steeringParts(part).every((inner) => isEmptyPart(inner, convertDataPart));
  return isData(part) && !convertDataPart(part);
}

/**
 * A call and its result share a part, so that a result cannot stay without its call: leaving out the call leaves out
 * both. Leaving out the result leaves the call as it was before.
 */
export function withoutParts<M extends UIMessageLike>(
  message: M,
  omission: Omission,
  convertDataPart: ConvertDataPart,
): M | undefined {
  const parts = partsOf(message);
  const isParted = omission.reasoning === true && parts.some(isReasoning);
  const isBound = isParted && parts.some(isReasoningItem);
  const kept = parts
    .flatMap((part) => (isBound && part.providerExecuted === true ? [] : keep(part, omission)))
    .map((part) => (isParted ? withoutItemId(part) : part));
  if (kept.length === parts.length && kept.every((part, index) => part === parts[index])) return message;
  const copy = { ...message, parts: kept };
  return isEmptyMessage(copy, convertDataPart) ? undefined : copy;
}

function keep(part: AnyPart, omission: Omission): AnyPart[] {
  if (isCall(part)) {
    if (omission.toolCalls?.(part.toolCallId)) return [];
    return [isAnswered(part) && omission.toolResults?.(part.toolCallId) ? withoutResult(part) : part];
  }
  if (omission.reasoning === true && isReasoning(part)) return [];
  if (omission.media !== true) return [part];
  if (isFile(part)) return [];
  return part.type === "steering-message" ? withoutFiles(part) : [part];
}

/**
 * Of what OpenAI's Responses API put out, the SDK keeps the item's id. By it the API knows the reasoning that led to the item,
 * and refuses the one without the other.
 */
function withoutItemId(part: AnyPart): AnyPart {
  if (part.type !== "text" && !isCall(part)) return part;
  const name = part.type === "text" ? "providerMetadata" : "callProviderMetadata";
  const metadata = Object.entries((part[name] ?? {}) as Record<string, { readonly itemId?: unknown } | null>);
  if (!metadata.some(([, own]) => own?.itemId !== undefined)) return part;
  const left = metadata.map(([provider, own]) => {
    const { itemId: _, ...rest } = own ?? {};
    return [provider, rest] as const;
  });
  return { ...part, [name]: Object.fromEntries(left) };
}

/**
 * Reasoning that OpenAI's Responses API knows by its id. What the API ran itself goes back under its own id alone, so that it
 * cannot stay without the reasoning that led to it.
 */
function isReasoningItem(part: AnyPart): boolean {
  const metadata = (part.providerMetadata ?? {}) as Record<string, { readonly itemId?: unknown } | null>;
  return isReasoning(part) && Object.values(metadata).some((own) => own?.itemId !== undefined);
}

/** What a result brings into the part of its call; of a failed call `rawInput` may be all the input there is. */
const resultMembers = ["output", "errorText", "rawInput", "resultProviderMetadata", "preliminary"];

/** The part as it was before its result came. */
export function withoutResult(part: ToolPart): ToolPart {
  const call = Object.fromEntries(Object.entries(part).filter(([name]) => !resultMembers.includes(name)));
  const input = part.input ?? part.rawInput;
  const responded = hasResponse(part) ? "approval-responded" : "approval-requested";
  const state = part.approval ? responded : "input-available";
  return { ...call, ...(input === undefined ? {} : { input }), state } as ToolPart;
}

export function hasResponse(part: ToolPart): boolean {
  return typeof part.approval?.approved === "boolean";
}

function withoutFiles(part: AnyPart): AnyPart[] {
  const inner = steeringParts(part);
  const kept = inner.filter((one) => !isFile(one));
  if (kept.length === inner.length) return [part];
  return kept.length > 0 ? [{ ...part, parts: kept }] : [];
}
