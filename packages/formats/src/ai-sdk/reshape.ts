import type { CallPlace } from "@turnkeep/core";
import { joinedMembers, withMember } from "@turnkeep/core/format-kit";
import { isLeftOut, mapList } from "../reshape.ts";
import type { ConvertDataPart, UIMessageLike } from "./messages.ts";
import {
  type AnyPart,
  isCall,
  isCompaction,
  isData,
  isFile,
  isMessageStart,
  isSigned,
  isTool,
  isUnseen,
  partsOf,
  steeringParts,
  toolNameOf,
} from "./parts.ts";
import { isEmptyMessage } from "./without.ts";

/** A message for a view. The SDK sends no ids, so that it needs none of its own. */
export function textMessage(role: "user" | "assistant", text: string): UIMessageLike {
  return { id: "", role, parts: [{ type: "text", text } as AnyPart] };
}

/** A call that still streams is none yet, so that it takes the name of no other. */
export function renameCalls<M extends UIMessageLike>(
  message: M,
  rename: (id: string, of?: CallPlace) => string,
): M {
  const parts = mapList(partsOf(message), (part) =>
    isTool(part) && part.providerExecuted !== true
      ? withMember(part, "toolCallId", rename(part.toolCallId, isCall(part) ? "call" : undefined))
      : part,
  );
  return withMember(message, "parts", parts);
}

export function renameTools<M extends UIMessageLike>(message: M, rename: (name: string) => string): M {
  const parts = mapList(partsOf(message), (part) => {
    if (!isTool(part) || part.providerExecuted === true) return part;
    const name = rename(toolNameOf(part));
    return part.type === "dynamic-tool"
      ? withMember(part, "toolName", name)
      : withMember(part, "type", `tool-${name}`);
  });
  return withMember(message, "parts", parts);
}

/** One message under the id of the first. */
export function joined<M extends UIMessageLike>(first: M, second: M): M | undefined {
  if (first.role !== second.role || first.role === "system") return undefined;
  const [before, after] = [partsOf(first), partsOf(second)];
  if (first.role === "assistant" && [...before, ...after].some(isCompaction)) return undefined;
  const members = joinedMembers(first, second, ["id", "parts"]);
  if (members === undefined) return undefined;
  // Without it the SDK would send the results of the first behind what the second says.
  const isOwnStep = first.role === "user" || after[0]?.type === "step-start";
  const parts = [...before, ...(isOwnStep ? [] : [{ type: "step-start" }]), ...after];
  return { ...members, id: first.id, parts } as unknown as M;
}

export function renameDocuments<M extends UIMessageLike>(message: M, rename: (name: string) => string): M {
  const parts = mapList(partsOf(message), (part) => {
    const isDocument = part.type === "file" && !/^(image|audio|video)/.test(String(part.mediaType));
    if (!isDocument || typeof part.filename !== "string") return part;
    return withMember(part, "filename", rename(part.filename));
  });
  return withMember(message, "parts", parts);
}

export function withErrorText<M extends UIMessageLike>(message: M, text: string): M {
  const parts = mapList(partsOf(message), (part) =>
    isTool(part) && part.state === "output-error" && part.errorText === ""
      ? withMember(part, "errorText", text)
      : part,
  );
  return withMember(message, "parts", parts);
}

export function withoutEmptyText<M extends UIMessageLike>(
  message: M,
  which: "empty" | "blank",
  { convertDataPart, keepSigned }: { convertDataPart: ConvertDataPart; keepSigned: boolean },
): M | undefined {
  const shownAs = (part: AnyPart): AnyPart | undefined =>
    isData(part) ? ((convertDataPart(part) as AnyPart | undefined) ?? undefined) : part;
  const keep = (part: AnyPart): AnyPart[] => {
    if (isMessageStart(part)) return [];
    const shown = shownAs(part);
    if (shown?.type === "text") {
      const isKept = isCompaction(part) || (keepSigned && isSigned(part)) || !isLeftOut(shown.text, which);
      return isKept ? [part] : [];
    }
    if (part.type !== "steering-message") return [part];
    const inner = steeringParts(part);
    const kept = inner.flatMap(keep);
    if (kept.length === inner.length) return [part];
    return kept.length > 0 ? [{ ...part, parts: kept }] : [];
  };
  const parts = partsOf(message);
  const kept = parts.flatMap(keep);
  if (kept.length === parts.length && kept.every((part, at) => part === parts[at])) return message;
  const isNothing = kept.every((part) => isUnseen(part) || shownAs(part) === undefined);
  return isNothing ? undefined : withMember(message, "parts", kept);
}

/** What the user sent while the answer was made is his; a data part may become a file. */
export function withoutAnswerFiles<M extends UIMessageLike>(
  message: M,
  convertDataPart: ConvertDataPart,
): M | undefined {
  const isMade = (part: AnyPart): boolean => {
    const shown = isData(part) ? (convertDataPart(part) as AnyPart | undefined) : part;
    return shown !== undefined && isFile(shown);
  };
  const parts = partsOf(message);
  const kept = parts.filter((part) => !isMade(part));
  if (message.role !== "assistant" || kept.length === parts.length) return message;
  const copy = withMember(message, "parts", kept);
  return isEmptyMessage(copy, convertDataPart) ? undefined : copy;
}
