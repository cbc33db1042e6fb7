import type { LangChain4jContent, LangChain4jMessage } from "./messages.ts";
import { pdfType } from "./places.ts";

/** By a content's type, the member that holds its medium, and its media type where nothing else tells. */
export const mediaKinds: ReadonlyMap<string, readonly [member: string, mediaType: string]> = new Map([
  ["IMAGE", ["image", "image/*"]],
  ["AUDIO", ["audio", "audio/*"]],
  ["VIDEO", ["video", "video/*"]],
  ["PDF", ["pdfFile", pdfType]],
]);

export function contentsOf(message: LangChain4jMessage): readonly LangChain4jContent[] {
  return "contents" in message ? message.contents.filter((content) => content !== null) : [];
}

/** Attributes in which LangChain4j keeps what a provider wants back with its thinking. */
const reasoningAttributes = ["thinking_signature", "redacted_thinking"];

export function hasReasoning(message: LangChain4jMessage): boolean {
  if (message.type !== "AI") return false;
  const { attributes = {} } = message;
  return Boolean(message.thinking) || reasoningAttributes.some((name) => Object.hasOwn(attributes, name));
}

export function withoutReasoning<M extends LangChain4jMessage & { type: "AI" }>(message: M): M {
  const { thinking: _, ...rest } = message;
  if (rest.attributes === undefined) return rest as M;
  const kept = Object.entries(rest.attributes).filter(([name]) => !reasoningAttributes.includes(name));
  return { ...rest, attributes: Object.fromEntries(kept) } as M;
}
