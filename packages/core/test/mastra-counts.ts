import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { estimateTokenCount } from "tokenx";
import type { RecordedMessage, RecordedPart } from "./mastra-messages.ts";

/** How Mastra counts a message, in tenths of a token, so that sums are exact. */
export type Count = (message: RecordedMessage, parts: readonly number[] | null) => number;

const plain: { readonly disallowedSpecial: Set<string> } = { disallowedSpecial: new Set() };
type Encode = (text: string, options: typeof plain) => readonly number[];
const encodings: Readonly<Record<"o200k_base" | "cl100k_base", Encode>> = {
  o200k_base: o200k,
  cl100k_base: cl100k,
};

/** @mastra/memory 0.15.13: the tokenizer's count of all texts glued together, less 12 for what it wrote as JSON. */
export function countOld(encoding: keyof typeof encodings): Count {
  return ({ role, content }, kept) => {
    let text = role;
    let tenths = 0;
    let hasOther = typeof content === "string";
    if (typeof content === "string") text += content;
    for (const part of partsKept(content, kept)) {
      if (part.type === "text") text += part.text;
      if (part.type === "tool-call" && part.args) {
        text += part.toolName;
        const [written, less] = asText(part.args);
        text += written;
        tenths -= less;
      }
      if (part.type === "tool-result" && part.result !== undefined) {
        const [written, less] = asText(part.result);
        text += written;
        tenths -= less;
      }
      if (part.type === "tool-call" || part.type === "tool-result") continue;
      if (part.type !== "text") text += JSON.stringify(part);
      hasOther = true;
    }
    return encodings[encoding](text, plain).length * 10 + tenths + (hasOther ? 38 : 0);
  };
}

/** @mastra/core 1.71.0: the same shape over an estimate, with numbers of its own for media. */
export const countNew: Count = ({ role, content }, kept) => {
  let text = role;
  let tenths = 38;
  if (typeof content === "string") text += content;
  for (const part of partsKept(content, kept)) {
    if (part.type === "text" || part.type === "reasoning") text += part.text;
    else if (part.type === "tool-call") text += part.toolName;
    else if (part.type === "image") tenths += 7650;
    else if (part.type === "file") tenths += fileTokens(part) * 10;
    else if (part.type !== "tool-result") text += JSON.stringify(part);
    const input = "args" in part ? part.args : part.input;
    const output = (part.output as { value?: unknown } | undefined)?.value ?? part.result ?? null;
    const value = part.type === "tool-call" ? input : part.type === "tool-result" ? output : undefined;
    if (value === undefined) continue;
    const [written, less] = asText(value);
    text += written;
    tenths -= less;
  }
  return estimateTokenCount(text) * 10 + tenths;
};

function partsKept(
  content: RecordedMessage["content"],
  kept: readonly number[] | null,
): readonly RecordedPart[] {
  if (!Array.isArray(content)) return [];
  return (content as readonly RecordedPart[]).filter((_, index) => kept?.includes(index) ?? true);
}

function asText(value: unknown): [written: string, less: number] {
  return typeof value === "string" ? [value, 0] : [JSON.stringify(value), 120];
}

function fileTokens({ data = "", mimeType = "" }: RecordedPart): number {
  if (mimeType.startsWith("image/")) return 765;
  if (/^[a-z][a-z0-9+.-]*:/i.test(data)) return 258;
  return Math.max(1, Math.floor(Math.floor((data.length * 3) / 4) / 4));
}
