import type { Losses } from "../conversion/losses.ts";
import { dataUrl, exactType } from "../conversion/media.ts";
import type {
  Medium,
  NeutralCall,
  NeutralMessage,
  NeutralResult,
  SourcedPart,
  WithOptions,
} from "../conversion/neutral.ts";
import { jsonText, outputText, type SourcedResult } from "../conversion/outputs.ts";
import type { UIMessageLike, UIMessagePartLike } from "./messages.ts";

type Part = UIMessagePartLike & Record<string, unknown>;

/** An answer as it grows: its steps, and what they wait for. */
interface Answer {
  readonly parts: Part[];
  readonly calls: Map<string, Part>;
  readonly requests: Map<string, Part>;
  /** The results of its newest step have come. */
  isAnswered: boolean;
}

/**
 * See `Conversion.write`. An assistant's message, the results that follow it, and what the model says to them are one
 * message.
 */
export function writeMessages(
  messages: readonly NeutralMessage[],
  losses: Losses,
  generateId: (index: number) => string,
): UIMessageLike[] {
  const written: UIMessageLike[] = [];
  const add = (role: UIMessageLike["role"], parts: Part[]): void => {
    written.push({ id: generateId(written.length), role, parts });
  };
  let answer: Answer | undefined;
  for (const { role, parts } of messages) {
    if (role === "tool") {
      addAnswers(answer, parts, losses);
      if (answer !== undefined) answer.isAnswered = true;
      continue;
    }
    if (role === "assistant") {
      if (answer?.isAnswered !== true) {
        answer = { parts: [], calls: new Map(), requests: new Map(), isAnswered: false };
        addStep(answer, parts, losses);
        if (answer.parts.length > 0) add(role, answer.parts);
        else answer = undefined;
      } else addStep(answer, parts, losses);
      continue;
    }
    answer = undefined;
    const said = parts.flatMap((sourced) => writePart(sourced, losses));
    if (said.length > 0) add(role, said);
  }
  return written;
}

function addStep(answer: Answer, parts: readonly SourcedPart[], losses: Losses): void {
  if (answer.parts.length > 0) answer.parts.push({ type: "step-start" });
  answer.isAnswered = false;
  for (const sourced of parts) {
    const { part } = sourced;
    if (part.type === "call") {
      const written = callPart(part);
      answer.parts.push(written);
      answer.calls.set(part.id, written);
    } else if (part.type === "request" || part.type === "result") addAnswers(answer, [sourced], losses);
    else answer.parts.push(...writePart(sourced, losses));
  }
}

/** A result stands in the part of its call; one without a call is lost. */
function addAnswers(answer: Answer | undefined, parts: readonly SourcedPart[], losses: Losses): void {
  for (const sourced of parts) {
    if (!addAnswer(answer, sourced, losses)) losses.part(sourced);
  }
}

function addAnswer(answer: Answer | undefined, sourced: SourcedPart, losses: Losses): boolean {
  const { part } = sourced;
  if (part.type === "request") {
    const call = answer?.calls.get(part.callId);
    if (answer === undefined || call === undefined) return false;
    const { reason, ...more } = part.more;
    const asked = reason === undefined ? {} : { requestReason: reason };
    Object.assign(call, {
      state: "approval-requested",
      approval: { ...more, ...asked, id: part.approvalId },
    });
    answer.requests.set(part.approvalId, call);
    return true;
  }
  if (part.type === "response") {
    const call = answer?.requests.get(part.approvalId);
    if (call === undefined) return false;
    const { reason } = part.more;
    const said = reason === undefined ? {} : { reason };
    const approval = { ...(call.approval as object), approved: part.approved, ...said };
    Object.assign(call, { state: "approval-responded", approval });
    return true;
  }
  const call = part.type === "result" ? answer?.calls.get(part.id) : undefined;
  if (part.type !== "result" || call === undefined) return false;
  Object.assign(call, resultMembers(call, sourced as SourcedResult, losses));
  return true;
}

function callPart(part: NeutralCall): Part {
  return {
    type: `tool-${part.name}`,
    toolCallId: part.id,
    state: "input-available",
    input: part.input,
    ...(part.providerExecuted ? { providerExecuted: true } : {}),
    ...metadata("callProviderMetadata", part),
  };
}

function resultMembers(call: Part, sourced: SourcedResult, losses: Losses): object {
  const { output } = sourced.part;
  const { value } = output;
  const own = metadata("resultProviderMetadata", sourced.part);
  if (output.failed === "denied") return { ...own, ...denial(call, sourced.part) };
  if (output.failed === "error") {
    const errorText = value.type === "json" ? jsonText(value.json) : outputText(sourced, losses);
    return { ...own, state: "output-error", errorText };
  }
  const shown = value.type === "json" ? value.json : outputText(sourced, losses);
  return { ...own, state: "output-available", output: shown };
}

/** A denial belongs to an approval; one that was not asked for goes by the call's id. */
function denial(call: Part, { id, output }: NeutralResult): object {
  const text = output.value.type === "text" ? output.value.text : "";
  const before = (call.approval ?? { id }) as object;
  const reason = text === "" ? {} : { reason: text };
  return { state: "output-denied", approval: { ...before, approved: false, ...reason } };
}

function writePart(sourced: SourcedPart, losses: Losses): Part[] {
  const part = partOf(sourced);
  if (part === undefined) losses.part(sourced);
  return part === undefined ? [] : [part];
}

function partOf({ part }: SourcedPart): Part | undefined {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text, ...metadata("providerMetadata", part) };
    case "media":
      return filePart("file", part.medium, part);
    case "reasoning-media":
      return "reference" in part.medium ? undefined : filePart("reasoning-file", part.medium, part);
    case "custom":
      return { type: "custom", kind: part.name, ...metadata("providerMetadata", part) };
    default:
      return undefined;
  }
}

function filePart(type: string, medium: Medium, of: WithOptions): Part {
  return {
    type,
    mediaType: exactType(medium) ?? medium.mediaType ?? "application/octet-stream",
    ...(medium.filename === undefined ? {} : { filename: medium.filename }),
    // The SDK takes a reference before the URL, which a part must have all the same.
    ...("reference" in medium
      ? { url: "", providerReference: medium.reference }
      : { url: "url" in medium ? medium.url : dataUrl(medium) }),
    ...metadata("providerMetadata", of),
  };
}

function metadata(member: string, { options }: WithOptions): Record<string, unknown> {
  return options === undefined ? {} : { [member]: options };
}
