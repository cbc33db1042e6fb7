import type { UIDataPartLike, UIMessageLike } from "./messages.ts";

/** A part of a checked message: the members that its type asks for are there. */
export interface AnyUIPart {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The part of a tool call: it holds the call, its approval and its result, as far as they have come. */
export interface ToolPart extends AnyUIPart {
  readonly toolCallId: string;
  readonly state: string;
  readonly approval?: { readonly id: string; readonly approved?: unknown; readonly reason?: unknown };
}

const answeredStates: readonly string[] = ["output-available", "output-error", "output-denied"];

export function partsOf(message: UIMessageLike): readonly AnyUIPart[] {
  return message.parts as readonly unknown[] as readonly AnyUIPart[];
}

/** A part that stands for a tool call, be it complete or still streaming. */
export function isTool(part: AnyUIPart): part is ToolPart {
  return part.type === "dynamic-tool" || part.type.startsWith("tool-");
}

/** A call whose input is there: one that still streams is no call yet, and the SDK does not send it. */
export function isCall(part: AnyUIPart): part is ToolPart {
  return isTool(part) && part.state !== "input-streaming";
}

export function isAnswered({ state }: { readonly state?: unknown }): boolean {
  return answeredStates.includes(state as string);
}

export function toolNameOf(part: ToolPart): string {
  return part.type === "dynamic-tool" ? (part.toolName as string) : part.type.slice("tool-".length);
}

export function isData(part: AnyUIPart): part is AnyUIPart & UIDataPartLike {
  return part.type.startsWith("data-");
}

export function isReasoning(part: AnyUIPart): boolean {
  return part.type === "reasoning" || part.type === "reasoning-file";
}

export function isFile(part: AnyUIPart): boolean {
  return part.type === "file" || part.type === "reasoning-file";
}

/** The parts of a user's message that reached the run while the assistant's was made. */
export function steeringParts(part: AnyUIPart): readonly AnyUIPart[] {
  return part.parts as readonly AnyUIPart[];
}

/** What `@ai-sdk/anthropic` 4 streams in front of each answer: its id and usage. */
export function isMessageStart(part: AnyUIPart): boolean {
  return part.type === "custom" && part.kind === "anthropic.message_start";
}

/**
 * A provider's compaction, as the SDK's provider packages give it: the custom part `openai.compaction` that names its
 * item, and a text that Anthropic marks as one.
 */
export function isCompaction(part: AnyUIPart): boolean {
  const metadata = part.providerMetadata as Record<string, Record<string, unknown> | undefined> | undefined;
  if (part.type === "text") return part.text !== "" && metadata?.anthropic?.type === "compaction";
  if (part.type !== "custom" || part.kind !== "openai.compaction") return false;
  return Object.values(metadata ?? {}).some((own) => typeof own?.itemId === "string");
}

/** Where `@ai-sdk/google` 4.0.121 puts a thought signature, for Gemini's API and for Google Cloud's. */
const signers: readonly string[] = ["google", "googleVertex", "vertex"];

/** Whether a part brings a thought signature of Gemini's, which may stand beside an empty text. */
export function isSigned(part: AnyUIPart): boolean {
  const metadata = (part.providerMetadata ?? {}) as Record<
    string,
    { thoughtSignature?: unknown } | undefined
  >;
  return signers.some((name) => typeof metadata[name]?.thoughtSignature === "string");
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
