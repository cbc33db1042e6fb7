import { type AskedCall, CallsById } from "@turnkeep/core/processors";
import { wrongOption } from "@turnkeep/core/store-kit";
import type { Losses } from "../conversion/losses.ts";
import { dataUrl, exactType } from "../conversion/media.ts";
import type { Medium, NeutralCall, NeutralMessage, SourcedPart, WithOptions } from "../conversion/neutral.ts";
import { outputText, type SourcedResult } from "../conversion/outputs.ts";
import type { UIMessageLike, UIMessagePartLike } from "./messages.ts";
import { isAnswered } from "./parts.ts";

/** A part as it is put together. */
type Part = UIMessagePartLike & {
  state?: string;
  approval?: { readonly id: string; readonly approved?: boolean; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
};

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
    const id: unknown = generateId(written.length);
    if (typeof id !== "string") throw wrongOption("What generateId returns", id, "a text");
    written.push({ id, role, parts });
  };
  const answers = new Answers(losses);
  /** The message of the assistant that still grows, and whether the results of its newest step have come. */
  let growing: { readonly parts: Part[]; isAnswered: boolean } | undefined;
  for (const { role, parts } of messages) {
    if (role === "tool") {
      for (const sourced of parts) answers.take(sourced);
      if (growing !== undefined) growing.isAnswered = true;
      continue;
    }
    const said = parts.flatMap((sourced) => answers.write(sourced));
    answers.askTogether();
    if (role !== "assistant") growing = undefined;
    if (said.length === 0) continue;
    if (growing?.isAnswered) {
      growing.parts.push({ type: "step-start" }, ...said);
      growing.isAnswered = false;
    } else {
      add(role, said);
      if (role === "assistant") growing = { parts: said, isAnswered: false };
    }
  }
  return written;
}

/** What answers a call stands in its part, once: what has no call, or comes again, is lost. */
class Answers {
  readonly #losses: Losses;
  /** The parts of calls. */
  readonly #calls: CallsById<Part> = new CallsById();
  /** Of the message that is being written. */
  #asked: AskedCall<Part>[] = [];
  /** The same by the ids of their approvals. */
  readonly #requests = new Map<string, Part>();

  constructor(losses: Losses) {
    this.#losses = losses;
  }

  /** The part to be written, unless it stands in another. */
  write(sourced: SourcedPart): Part[] {
    const { part } = sourced;
    if (part.type === "call") {
      const written = callPart(part);
      this.#asked.push([part.id, written, part.name]);
      return [written];
    }
    if (part.type !== "request" && part.type !== "result") return writePart(sourced, this.#losses);
    this.take(sourced);
    return [];
  }

  /** The calls of a message, or those of it before a result. */
  askTogether(): void {
    this.#calls.askTogether(this.#asked.splice(0));
  }

  take(sourced: SourcedPart): void {
    this.askTogether();
    if (!this.#isTaken(sourced)) this.#losses.part(sourced);
  }

  #isTaken(sourced: SourcedPart): boolean {
    const { part } = sourced;
    if (part.type === "request") {
      const call = this.#calls.callOf(part.callId);
      if (call === undefined || isAnswered(call) || call.approval !== undefined) return false;
      const { reason, ...more } = part.more;
      const asked = reason === undefined ? {} : { requestReason: reason };
      call.approval = { ...more, ...asked, id: part.approvalId };
      call.state = "approval-requested";
      this.#requests.set(part.approvalId, call);
      return true;
    }
    if (part.type === "response") {
      const call = this.#requests.get(part.approvalId);
      if (call?.state !== "approval-requested" || call.approval === undefined) return false;
      const { reason, providerExecuted } = part.more;
      // The part of the call says who runs it.
      const isTold = (providerExecuted === true) === (call.providerExecuted === true);
      const known = isTold ? ["reason", "providerExecuted"] : ["reason"];
      this.#losses.members(sourced.index, sourced.kind, part.more, known);
      const said = reason === undefined ? {} : { reason };
      call.approval = { ...call.approval, approved: part.approved, ...said };
      call.state = "approval-responded";
      return true;
    }
    const call = part.type === "result" ? this.#calls.take(part.id, part.name) : undefined;
    if (call === undefined) return false;
    Object.assign(call, resultMembers(call, sourced as SourcedResult, this.#losses));
    return true;
  }
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
  if (output.failed === "denied") return { ...own, ...denial(call, sourced, losses) };
  if (call.approval !== undefined && call.approval.approved !== true) {
    // Beside a result it must be one that was given.
    delete call.approval;
    losses.add(sourced.index, `${sourced.kind}.approval`);
  }
  if (output.failed === "error") {
    return { ...own, state: "output-error", errorText: outputText(sourced, losses) };
  }
  const shown = value.type === "json" ? value.json : outputText(sourced, losses);
  return { ...own, state: "output-available", output: shown };
}

/** A denial belongs to an approval, of which it has the last word; one that was not asked for goes by the call's id. */
function denial(call: Part, { index, kind, part: { id, output } }: SourcedResult, losses: Losses): object {
  const before: NonNullable<Part["approval"]> = call.approval ?? { id };
  const reason = (output.value.type === "text" && output.value.text) || before.reason;
  const isOverruled = before.approved === true || (before.reason ?? reason) !== reason;
  if (isOverruled) losses.add(index, `${kind}.approval`);
  const said = reason === undefined ? {} : { reason };
  return { state: "output-denied", approval: { ...before, approved: false, ...said } };
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
