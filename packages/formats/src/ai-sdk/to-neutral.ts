import { isObject } from "@turnkeep/core/format-kit";
import type { Losses, Source } from "../conversion/losses.ts";
import { mediumOf, named, typed } from "../conversion/media.ts";
import {
  type Medium,
  type NeutralMessage,
  type NeutralPart,
  type Output,
  optionsOf,
  type SourcedPart,
  sourced,
} from "../conversion/neutral.ts";
import type { ConvertDataPart, UIMessageLike } from "./messages.ts";
import {
  type AnyUIPart,
  isAnswered,
  isCall,
  isData,
  isTool,
  partsOf,
  steeringParts,
  type ToolPart,
  toolNameOf,
} from "./parts.ts";

/** See `Conversion.read`. Each step of an answer is a message, and so are its results: the SDK sends them so. */
export function readMessages(
  messages: readonly UIMessageLike[],
  losses: Losses,
  convertDataPart: ConvertDataPart,
): NeutralMessage[] {
  return messages.flatMap((message, index) => {
    const source = { index, losses };
    losses.members(index, "message", message, ["id", "role", "parts"]);
    const parts = partsOf(message).map((part) => dataAsPart(part, convertDataPart));
    if (message.role === "assistant") return readAnswer(parts, source);
    return [{ role: message.role, parts: parts.flatMap((part) => readPart(part, source)) }];
  });
}

/** What the application makes of a data part for the model stands in its place. */
function dataAsPart(part: AnyUIPart, convertDataPart: ConvertDataPart): AnyUIPart {
  if (!isData(part)) return part;
  return (convertDataPart(part) as AnyUIPart | undefined) || part;
}

function readAnswer(parts: readonly AnyUIPart[], source: Source): NeutralMessage[] {
  const messages: NeutralMessage[] = [];
  let said: SourcedPart[] = [];
  let answers: SourcedPart[] = [];
  const close = (): void => {
    if (said.length > 0) messages.push({ role: "assistant", parts: said });
    if (answers.length > 0) messages.push({ role: "tool", parts: answers });
    [said, answers] = [[], []];
  };
  for (const part of parts) {
    if (part.type === "step-start" || part.type === "steering-message") close();
    if (part.type === "steering-message") {
      source.losses.members(source.index, part.type, part, ["type", "id", "parts"]);
      messages.push({ role: "user", parts: steeringParts(part).flatMap((inner) => readPart(inner, source)) });
    } else if (isTool(part)) {
      const tool = readTool(part, source);
      said.push(...tool.said);
      answers.push(...tool.answers);
    } else said.push(...readPart(part, source));
  }
  close();
  return messages;
}

const members: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  reasoning: ["text"],
  custom: ["kind"],
  file: ["mediaType", "url", "filename", "providerReference"],
  "reasoning-file": ["mediaType", "url"],
};

function readPart(part: AnyUIPart, source: Source): SourcedPart[] {
  const { type } = part;
  if (type === "step-start") {
    source.losses.members(source.index, type, part, ["type"]);
    return [];
  }
  const known = Object.hasOwn(members, type) ? members[type] : undefined;
  const read = known === undefined ? undefined : neutralPart(part);
  if (known === undefined || read === undefined) {
    source.losses.add(source.index, type);
    return [];
  }
  source.losses.members(source.index, type, part, ["type", "id", "state", "providerMetadata", ...known]);
  return [sourced(source, type, read)];
}

function neutralPart(part: AnyUIPart): NeutralPart | undefined {
  const options = optionsOf(part.providerMetadata);
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text as string, ...options };
    case "custom":
      return { type: "custom", name: part.kind as string, ...options };
    case "file":
    case "reasoning-file": {
      const medium = mediumOfFile(part);
      const type = part.type === "file" ? ("media" as const) : ("reasoning-media" as const);
      return medium && { type, medium: { ...medium, ...named(part.filename) }, ...options };
    }
    default:
      return undefined;
  }
}

function mediumOfFile({ url, mediaType, providerReference: reference }: AnyUIPart): Medium | undefined {
  const type = mediaType as string;
  if (isObject(reference)) return { reference: reference as Record<string, string>, ...typed(type) };
  return mediumOf(url as string, type);
}

const toolMembers: readonly string[] = [
  ...["type", "toolCallId", "toolName", "state", "input", "output", "errorText", "approval"],
  ...["providerExecuted", "callProviderMetadata", "resultProviderMetadata"],
];

/** The call and its result, where the provider ran it; else the call, and what answers it. */
function readTool(part: ToolPart, source: Source): { said: SourcedPart[]; answers: SourcedPart[] } {
  const { index, losses } = source;
  const { type: kind, toolCallId: id } = part;
  if (!isCall(part)) {
    losses.call(index, kind, id);
    return { said: [], answers: [] };
  }
  const isRaw = part.state === "output-error" && (part.input === undefined || part.input === null);
  losses.members(index, kind, part, [...toolMembers, ...(isRaw ? ["rawInput"] : [])]);
  const isProviders = part.providerExecuted === true;
  const call: NeutralPart = {
    type: "call",
    id,
    name: toolNameOf(part),
    input: isRaw ? part.rawInput : part.input,
    ...(isProviders ? { providerExecuted: true } : {}),
    ...optionsOf(part.callProviderMetadata),
  };
  const approval = readApproval(part, source);
  const result = isAnswered(part) ? [sourced(source, kind, resultOf(part))] : [];
  return {
    said: [sourced(source, kind, call), ...approval.request, ...(isProviders ? result : [])],
    answers: [...approval.response, ...(isProviders ? [] : result)],
  };
}

function readApproval(part: ToolPart, source: Source): { request: SourcedPart[]; response: SourcedPart[] } {
  const { approval } = part;
  if (!isObject(approval)) return { request: [], response: [] };
  const kind = `${part.type}.approval`;
  const { id, approved, reason, requestReason, ...others } = approval as Record<string, unknown>;
  const shared = ["isAutomatic", "signature", "inputSchemaInput"];
  source.losses.members(source.index, kind, others, shared);
  const more = given({ ...pick(others, shared), reason: requestReason });
  const request: NeutralPart = { type: "request", approvalId: id as string, callId: part.toolCallId, more };
  const answer = given({ reason, providerExecuted: part.providerExecuted });
  return {
    request: [sourced(source, kind, request)],
    response:
      typeof approved === "boolean"
        ? [sourced(source, kind, { type: "response", approvalId: id as string, approved, more: answer })]
        : [],
  };
}

function resultOf(part: ToolPart): NeutralPart {
  const result = { type: "result" as const, id: part.toolCallId, name: toolNameOf(part) };
  return { ...result, output: outputOf(part), ...optionsOf(part.resultProviderMetadata) };
}

function outputOf({ state, output, errorText, approval }: ToolPart): Output {
  if (state === "output-error")
    return { value: { type: "text", text: errorText as string }, failed: "error" };
  if (state === "output-denied") {
    const reason = approval?.reason;
    return { value: { type: "text", text: typeof reason === "string" ? reason : "" }, failed: "denied" };
  }
  if (typeof output === "string") return { value: { type: "text", text: output } };
  return { value: { type: "json", json: output ?? null } };
}

function pick(of: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, of[name]]));
}

function given(of: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined && value !== null));
}
