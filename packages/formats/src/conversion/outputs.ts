import { asText, isObject } from "@turnkeep/core/format-kit";
import type { Losses } from "./losses.ts";
import type { Medium, NeutralCall, NeutralResult, Output, OutputPart, SourcedPart } from "./neutral.ts";

/** What a model reads where a denial gives no reason: the AI SDK's words. */
const denied = "Tool call execution denied.";

export type SourcedResult = SourcedPart & { readonly part: NeutralResult };

/** Content as a result: a single text, or none, is plain text. */
export function outputOf(content: readonly OutputPart[], failed?: Output["failed"]): Output {
  const [first] = content;
  const isPlain = content.length === 0 || (content.length === 1 && first?.type === "text" && !first.options);
  const text = first?.type === "text" ? first.text : "";
  const value: Output["value"] = isPlain ? { type: "text", text } : { type: "content", content };
  return failed === undefined ? { value } : { value, failed };
}

/** A result as parts: what is no content is one text. */
export function outputParts(
  { index, kind, part: { output } }: SourcedResult,
  losses: Losses,
): readonly OutputPart[] {
  const { value, failed } = output;
  if (value.type === "content") return value.content;
  if (value.type === "json") {
    const text = jsonText(value.json, () => losses.add(index, `${kind}.output`));
    return [{ type: "text", text }];
  }
  return [{ type: "text", text: failed === "denied" ? value.text || denied : value.text }];
}

/** A result as one text, for formats that hold no other; media are lost. */
export function outputText(result: SourcedResult, losses: Losses): string {
  return outputTextAndMedia(result, () => undefined, losses).text;
}

/** A result as one text, and its media beside it: those are lost of which `write` makes nothing. */
export function outputTextAndMedia<T>(
  result: SourcedResult,
  write: (medium: Medium) => T | undefined,
  losses: Losses,
): { readonly text: string; readonly media: T[] } {
  const texts: string[] = [];
  const media: T[] = [];
  const { index, kind } = result;
  for (const part of outputParts(result, losses)) {
    const sourced = { index, kind: `${kind}.${part.type}`, part };
    if (part.type === "text") texts.push(part.text);
    else {
      const written = write(part.medium);
      if (written === undefined) {
        losses.part(sourced);
        continue;
      }
      losses.filename(sourced);
      media.push(written);
    }
    losses.options(sourced);
  }
  return { text: texts.join("\n"), media };
}

/** For formats in which a result says nothing of its success. */
export function loseFailure({ index, kind, part }: SourcedResult, losses: Losses): void {
  if (part.output.failed !== undefined) losses.add(index, `${kind}.error`);
}

/**
 * A value as JSON text, in which a model reads what JSON cannot hold as core's counters do. Numbers that JSON lacks, such as
 * `NaN`, are null there: then `lose` is called.
 */
export function jsonText(value: unknown, lose: () => void): string {
  if (holdsNonFinite(value)) lose();
  return typeof value === "string" ? JSON.stringify(value) : asText(value) || "null";
}

function holdsNonFinite(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  return Object.values(value).some(holdsNonFinite);
}

/** Nesting beyond this stays text: a message may not be nested so deep, nor can it be written as JSON again. */
const maxDepth = 400;

/** What a call says, from the text in which a model gave it. A text that is no JSON of an object or a list stays one. */
export function inputOf(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !isDeeper(value, maxDepth) ? value : text;
  } catch {
    return text;
  }
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeeper(member, depth - 1));
}

/** What a call says, for an API that takes nothing but an object. */
export function inputObject(
  { input }: NeutralCall,
  { index, kind }: SourcedPart,
  losses: Losses,
): Readonly<Record<string, unknown>> {
  if (isObject(input)) return input;
  if (input === undefined) return {};
  losses.add(index, `${kind}.input`);
  return { input };
}

/** What a call says, for an API that takes text. */
export function inputText({ input }: NeutralCall, { index, kind }: SourcedPart, losses: Losses): string {
  if (typeof input === "string") return input;
  return jsonText(input === undefined ? {} : input, () => losses.add(index, `${kind}.input`));
}
