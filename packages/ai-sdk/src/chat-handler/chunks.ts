import * as ai from "ai";
import { isToolUIPart, type UIMessage, type UIMessageChunk } from "ai";

type Part = UIMessage["parts"][number];
type ToolPart = Extract<Part, { toolCallId: string }>;
/** A text of major 7 has citations. */
type TextPart = Extract<Part, { type: "text" | "reasoning" }> & { readonly citations?: unknown };

/** Major 6 has no chunk that says what was decided, and refuses a stream with one that it does not know. */
const hasResponseChunk = "isStepCount" in ai;

interface Approval {
  readonly id: string;
  readonly approved?: boolean;
  /** Of the decision. */
  readonly reason?: string;
  /** Of the request, in major 7. */
  readonly requestReason?: string;
  readonly descriptor?: unknown;
}

/** The chunks of the SDK's stream by which one state of an answer becomes a later one. */
export function chunksBetween(before: readonly Part[], after: readonly Part[]): UIMessageChunk[] {
  return after.flatMap((part, index) => chunksOf(part, before[index], `${index}`) as UIMessageChunk[]);
}

function chunksOf(part: Part, old: Part | undefined, id: string): object[] {
  if (part.type === "text" || part.type === "reasoning") {
    const known = part.type === "reasoning" ? part.id : undefined;
    return textChunks(part, old as TextPart | undefined, known ?? id);
  }
  if (isToolUIPart(part)) return toolChunks(part, old as ToolPart | undefined);
  if (part.type === "step-start") return old === undefined ? [{ type: "start-step" }] : [];
  // Files, sources and data: the part is its own chunk.
  return JSON.stringify(old) === JSON.stringify(part) ? [] : [part];
}

function textChunks(
  { type, text, state, citations, providerMetadata }: TextPart,
  old: TextPart | undefined,
  id: string,
): object[] {
  const delta = text.slice(old?.text.length ?? 0);
  const metadata = providerMetadata && { providerMetadata };
  const cited = citations === undefined ? {} : { citations };
  const wasOpen = old === undefined || old.state === "streaming";
  return [
    ...(old === undefined ? [{ type: `${type}-start`, id, ...metadata }] : []),
    ...(delta === "" ? [] : [{ type: `${type}-delta`, id, delta }]),
    ...(wasOpen && state !== "streaming" ? [{ type: `${type}-end`, id, ...cited, ...metadata }] : []),
  ];
}

function toolChunks(part: ToolPart, old: ToolPart | undefined): object[] {
  const isOpen = old === undefined || old.state === "input-streaming";
  const approval = part.approval as Approval | undefined;
  const isNewApproval = approval !== undefined && old?.approval === undefined;
  const isNewDecision = approval?.approved !== undefined && old?.approval?.approved === undefined;
  return [
    ...(isOpen ? inputChunks(part, old) : []),
    ...(isNewApproval ? [requestChunk(part.toolCallId, approval)] : []),
    ...(isNewDecision && hasResponseChunk ? [responseChunk(approval)] : []),
    ...outputChunks(part, old),
  ];
}

function inputChunks(part: ToolPart, old: ToolPart | undefined): object[] {
  const {
    toolCallId,
    input,
    providerExecuted,
    title,
    toolMetadata,
    callProviderMetadata: providerMetadata,
  } = part as ToolPart & {
    readonly callProviderMetadata?: object;
  };
  const isDynamic = part.type === "dynamic-tool";
  const toolName = isDynamic ? part.toolName : part.type.slice("tool-".length);
  const call = {
    toolCallId,
    toolName,
    dynamic: isDynamic,
    providerExecuted,
    title,
    toolMetadata,
    providerMetadata,
  };
  if (part.state !== "input-streaming") return [{ type: "tool-input-available", ...call, input }];
  return old === undefined ? [{ type: "tool-input-start", ...call }] : [];
}

function requestChunk(toolCallId: string, approval: Approval): object {
  const { id, approved: _, reason: __, requestReason, descriptor, ...rest } = approval;
  const asked = {
    ...(requestReason !== undefined && { reason: requestReason }),
    ...(descriptor !== undefined && { approvalDescriptor: descriptor }),
  };
  return { type: "tool-approval-request", approvalId: id, toolCallId, ...rest, ...asked };
}

function responseChunk({ id, approved, reason }: Approval): object {
  const said = reason === undefined ? {} : { reason };
  return { type: "tool-approval-response", approvalId: id, approved, ...said };
}

/** A result that is preliminary is followed by others. */
function outputChunks(part: ToolPart, old: ToolPart | undefined): object[] {
  const chunk = outputChunk(part);
  const isKnown = JSON.stringify(chunk) === JSON.stringify(old && outputChunk(old));
  return chunk === undefined || isKnown ? [] : [chunk];
}

function outputChunk(part: ToolPart): object | undefined {
  const { toolCallId } = part;
  switch (part.state) {
    case "output-available": {
      const { output, preliminary, resultProviderMetadata: providerMetadata } = part;
      return { type: "tool-output-available", toolCallId, output, preliminary, providerMetadata };
    }
    case "output-error": {
      const { errorText, resultProviderMetadata: providerMetadata } = part;
      return { type: "tool-output-error", toolCallId, errorText, providerMetadata };
    }
    case "output-denied":
      return { type: "tool-output-denied", toolCallId };
    default:
      return undefined;
  }
}
