import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { checkRole, checkText } from "../checks.ts";
import type { UIMessageLike, UIMessagePartLike } from "./messages.ts";

/** A message as an application of the AI SDK 4 stored it: a `Message` or `UIMessage` of that major, or its JSON. */
export interface UIMessage4Like {
  id: string;
  role: "system" | "user" | "assistant" | "data";
  content: string;
  parts?: readonly { readonly type: string }[] | undefined;
}

/**
 * Messages of the AI SDK 4 as those of later majors, which `uiMessageFormat` holds and `uiMessageConversion` reads. Nothing is
 * lost: what has no place in a part, such as `createdAt` and `annotations`, stands in `metadata`, and a message of role `data`
 * becomes a data part of an answer, which no model is sent. Messages of major 5 need none of this.
 *
 * Errors: `INVALID_MESSAGE` for what is no message of that major.
 *
 * @example
 * ```ts
 * import { uiMessagesOfVersion4 } from "@turnkeep/formats/ai-sdk";
 *
 * const [message] = uiMessagesOfVersion4([{ id: "m-1", role: "user", content: "Hello", parts: [] }]);
 * ```
 */
export function uiMessagesOfVersion4(messages: readonly UIMessage4Like[]): UIMessageLike[] {
  return messages.map(upgraded);
}

const roles: readonly unknown[] = ["system", "user", "assistant", "data"];

interface AnyPart {
  readonly type: string;
  readonly [member: string]: unknown;
}

function upgraded(message: unknown): UIMessageLike {
  if (!isObject(message))
    throw invalidMessage(`is ${kindOf(message)}`, "Give an object with id, role and content.");
  const { id, role, content, parts: given, ...others } = message;
  checkText(id, "id");
  checkRole(role, roles);
  checkText(content, "content");
  const { reasoning, toolInvocations, experimental_attachments: attachments, data, ...rest } = others;
  const about = (members: object): { metadata?: unknown } =>
    Object.values(members).every((member) => member === undefined) ? {} : { metadata: members };
  if (role === "data") {
    const { data: _, ...beside } = others;
    const isBeside = data !== undefined && data !== null && content !== "";
    const said = { ...beside, ...(isBeside && { content }), ...(partsOf(given) && { parts: given }) };
    const part = { type: "data-message", data: data ?? content };
    return { id: id as string, role: "assistant", ...about(said), parts: [part] };
  }
  const said = partsOf(given) ?? olderParts(content as string, reasoning, toolInvocations);
  const parts = [...inSteps(said).flatMap(upgradedPart), ...listOf(attachments).map(fileOf)];
  return { id: id as string, role: role as "user", ...about({ ...rest, data }), parts };
}

function listOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function partsOf(given: unknown): readonly AnyPart[] | undefined {
  const parts = listOf(given) as readonly AnyPart[];
  return parts.length > 0 ? parts : undefined;
}

/** Before messages had parts, an answer was its calls, its reasoning and its text. */
function olderParts(content: string, reasoning: unknown, toolInvocations: unknown): readonly AnyPart[] {
  return [
    ...listOf(toolInvocations).map((toolInvocation) => ({ type: "tool-invocation", toolInvocation })),
    ...(typeof reasoning === "string" && reasoning !== "" ? [{ type: "reasoning", reasoning }] : []),
    ...(content === "" ? [] : [{ type: "text", text: content }]),
  ];
}

/** What the model says after results begins another step, and so do calls that bear another number. */
function inSteps(parts: readonly AnyPart[]): readonly AnyPart[] {
  return parts.flatMap((part, index) => {
    const before = parts[index - 1];
    const isNext =
      before?.type === "tool-invocation" && part.type !== "step-start" && stepOf(before) !== stepOf(part);
    return isNext ? [{ type: "step-start" }, part] : [part];
  });
}

function stepOf({ type, toolInvocation }: AnyPart): unknown {
  if (type !== "tool-invocation") return type;
  return isObject(toolInvocation) ? (toolInvocation.step ?? 0) : 0;
}

function upgradedPart(part: AnyPart): UIMessagePartLike[] {
  switch (part.type) {
    case "reasoning":
      return reasoningOf(part);
    case "tool-invocation":
      return isObject(part.toolInvocation) ? [callOf(part.toolInvocation)] : [];
    case "file":
      return [fileOf({ contentType: part.mimeType, url: `data:${part.mimeType};base64,${part.data}` })];
    case "source":
      return isObject(part.source) ? [sourceOf(part.source)] : [];
    default:
      return [part];
  }
}

/** Only Anthropic's models put out what `details` has. */
function reasoningOf({ reasoning, details }: AnyPart): UIMessagePartLike[] {
  const written = listOf(details).map(({ type, text, signature, data }) => {
    const anthropic = type === "redacted" ? { redactedData: data } : { signature };
    const isSigned = Object.values(anthropic).some((value) => value !== undefined);
    return { type: "reasoning", text: text ?? "", ...(isSigned && { providerMetadata: { anthropic } }) };
  });
  return written.length > 0 ? written : [{ type: "reasoning", text: reasoning } as UIMessagePartLike];
}

const states: Readonly<Record<string, string>> = {
  "partial-call": "input-streaming",
  call: "input-available",
  result: "output-available",
};

function callOf(invocation: Record<string, unknown>): UIMessagePartLike {
  const { toolName, toolCallId, state, args: input, result: output, step: _, ...others } = invocation;
  const answer = state === "result" ? { output } : {};
  const part = { type: `tool-${toolName}`, toolCallId, state: states[state as string] ?? state, input };
  return { ...part, ...answer, ...others };
}

function fileOf({ name, contentType, url }: Record<string, unknown>): UIMessagePartLike {
  const file = { type: "file", mediaType: contentType ?? "application/octet-stream", url };
  return name === undefined ? file : ({ ...file, filename: name } as UIMessagePartLike);
}

function sourceOf({
  id: sourceId,
  url,
  title,
  providerMetadata,
}: Record<string, unknown>): UIMessagePartLike {
  const about = {
    ...(title !== undefined && { title }),
    ...(providerMetadata !== undefined && { providerMetadata }),
  };
  return { type: "source-url", sourceId, url, ...about } as UIMessagePartLike;
}
