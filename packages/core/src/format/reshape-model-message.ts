import type { CallPlace } from "../message-format.ts";
import { type AnyPart, isBoundary, isCompaction, isUnseen, partsOf, withParts } from "./any-part.ts";
import { equalContent } from "./equal-content.ts";
import type { ModelMessageLike } from "./model-message.ts";

/** See `MessageFormat.renameCalls`. */
export function renameCalls(
  message: ModelMessageLike,
  rename: (id: string, of?: CallPlace) => string,
): ModelMessageLike {
  return mapCalls(message, (part) => {
    const toolCallId = rename(part.toolCallId as string, places[part.type]);
    return toolCallId === part.toolCallId ? part : { ...part, toolCallId };
  });
}

/** See `MessageFormat.renameTools`. A request for an approval names no tool. */
export function renameTools(message: ModelMessageLike, rename: (name: string) => string): ModelMessageLike {
  return mapCalls(message, (part) => {
    if (part.type === "tool-approval-request") return part;
    const toolName = rename(part.toolName as string);
    return toolName === part.toolName ? part : { ...part, toolName };
  });
}

/**
 * The message with other parts in place of those that belong to a call which the provider did not run. In an assistant
 * message a result is the provider's, unless it answers a call in the same message.
 */
function mapCalls(message: ModelMessageLike, change: (part: AnyPart) => AnyPart): ModelMessageLike {
  const calls = new Map<unknown, AnyPart>();
  for (const part of partsOf(message))
    if (part.type === "tool-call" && !calls.has(part.toolCallId)) calls.set(part.toolCallId, part);
  const isProviders = (part: AnyPart): boolean => {
    const call = calls.get(part.toolCallId);
    if (call !== undefined) return call.providerExecuted === true;
    return part.type === "tool-result" && message.role === "assistant";
  };
  const parts = partsOf(message).map((part) => (namesCall(part) && !isProviders(part) ? change(part) : part));
  return withParts(message, parts);
}

const places: Readonly<Record<string, CallPlace>> = {
  "tool-call": "call",
  "tool-result": "result",
  "tool-approval-request": "request",
};

function namesCall({ type }: AnyPart): boolean {
  return Object.hasOwn(places, type);
}

/** See `MessageFormat.renameDocuments`. */
export function renameDocuments(
  message: ModelMessageLike,
  rename: (name: string) => string,
): ModelMessageLike {
  const parts = partsOf(message).map((part) => {
    const output = part.output as { readonly type?: unknown; readonly value?: unknown } | undefined;
    if (part.type !== "tool-result" || output?.type !== "content") return renameDocument(part, rename);
    const before = output.value as readonly AnyPart[];
    const value = before.map((content) => renameDocument(content, rename));
    const isSame = value.every((content, index) => content === before[index]);
    return isSame ? part : { ...part, output: { ...output, value } };
  });
  return withParts(message, parts);
}

function renameDocument(part: AnyPart, rename: (name: string) => string): AnyPart {
  const { filename, mediaType } = part;
  const isDocument = !/^(image|audio|video)/.test(String(mediaType));
  if (typeof filename !== "string" || !isDocument) return part;
  const name = rename(filename);
  return name === filename ? part : { ...part, filename: name };
}

/** See `MessageFormat.joined`. Members other than the content must be equal if both messages have them. */
export function joined(first: ModelMessageLike, second: ModelMessageLike): ModelMessageLike | undefined {
  if (first.role !== second.role || first.role === "system") return undefined;
  if (isBoundary(first) || isBoundary(second)) return undefined;
  const members = new Map(membersOf(first));
  for (const [key, member] of membersOf(second)) {
    if (members.has(key) && !equalContent(members.get(key), member)) return undefined;
    members.set(key, member);
  }
  const content = [...contentParts(first), ...contentParts(second)];
  return { ...Object.fromEntries(members), content } as unknown as ModelMessageLike;
}

function membersOf(message: ModelMessageLike): readonly (readonly [string, unknown])[] {
  return Object.entries(message).filter(([key, member]) => key !== "content" && member !== undefined);
}

function contentParts(message: ModelMessageLike): readonly AnyPart[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : partsOf(message);
}

/** See `MessageFormat.withErrorText`. */
export function withErrorText(message: ModelMessageLike, text: string): ModelMessageLike {
  if (message.role !== "tool") return message;
  const parts = partsOf(message).map((part) => {
    const output = part.output as { readonly type?: unknown; readonly value?: unknown } | undefined;
    const isEmptyError = output?.type === "error-text" && output.value === "";
    return isEmptyError ? { ...part, output: { ...output, value: text } } : part;
  });
  return withParts(message, parts);
}

/** See `MessageFormat.withoutEmptyText`. */
export function withoutEmptyText(
  message: ModelMessageLike,
  which: "empty" | "blank",
  keepSigned = false,
): ModelMessageLike | undefined {
  const isLeftOut = (text: string): boolean => (which === "blank" ? text.trim() : text) === "";
  if (typeof message.content === "string") return isLeftOut(message.content) ? undefined : message;
  const kept = partsOf(message).filter(
    (part) =>
      !isUnseen(part) &&
      (part.type !== "text" ||
        isCompaction(part) ||
        (keepSigned && isSigned(part)) ||
        !isLeftOut(part.text as string)),
  );
  const copy = withParts(message, kept);
  return copy !== message && kept.length === 0 ? undefined : copy;
}

/** Where `@ai-sdk/google` 4.0.121 puts a thought signature, for Gemini's API and for Google Cloud's. */
const signers = ["google", "googleVertex", "vertex"];

function isSigned(part: AnyPart): boolean {
  const options = (part.providerOptions ?? {}) as Record<string, { thoughtSignature?: unknown } | undefined>;
  return signers.some((name) => typeof options[name]?.thoughtSignature === "string");
}
