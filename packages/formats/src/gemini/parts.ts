import { isObject } from "@turnkeep/core/format-kit";
import type { GeminiContent } from "./messages.ts";

/** A part, or an object in one, as it may come; its members are what the application gave. */
export interface AnyPart {
  readonly [member: string]: unknown;
}

/** The parts of a content; none where it has no list. */
export function partsOf(content: GeminiContent): readonly AnyPart[] {
  return (content.parts ?? []) as readonly object[] as readonly AnyPart[];
}

const kinds = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
] as const;

/** The members of which a part holds one. */
export type DataMember = (typeof kinds)[number];

/** By both spellings that the API takes. */
const dataMembers: ReadonlyMap<string, DataMember> = new Map(
  kinds.flatMap((name) => spellings(name).map((spelt) => [spelt, name] as const)),
);

/** What stands beside a part's data, and says nothing itself. */
export const besideData: readonly string[] = spellings("thought", "thoughtSignature");

/** What a part holds: which member it is, and how the part spells it. `undefined` for a part of another kind. */
export function dataOf(part: AnyPart): readonly [kind: DataMember, spelt: string] | undefined {
  for (const spelt of Object.keys(part)) {
    const kind = dataMembers.get(spelt);
    if (kind !== undefined && (part[spelt] ?? undefined) !== undefined) return [kind, spelt];
  }
  return undefined;
}

/** A member of either spelling. */
export function member(of: AnyPart, name: string): unknown {
  return of[name] ?? of[snakeCase(name)];
}

/** Both spellings of a member. */
export function spellings(...names: readonly string[]): string[] {
  return names.flatMap((name) => [name, snakeCase(name)]);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function isThought(part: AnyPart): boolean {
  return part.thought === true;
}

/** A thought signature must go back, even on an empty text. */
export function isSigned(part: AnyPart): boolean {
  const signature = member(part, "thoughtSignature");
  return typeof signature === "string" && signature !== "";
}

/** What the API calls all that a function put out, or why it failed, where a response is nothing else. */
export function onlyMember(response: unknown): "output" | "error" | undefined {
  const [only, ...others] = isObject(response) ? Object.keys(response) : [];
  return others.length === 0 && (only === "output" || only === "error") ? only : undefined;
}

export function isResult(part: AnyPart): boolean {
  return dataOf(part)?.[0] === "functionResponse";
}
