import type { Losses } from "../conversion/losses.ts";
import { dataUrl, filenameOf, topType } from "../conversion/media.ts";
import type { Medium, NeutralMessage, OutputPart, SourcedPart, WithOptions } from "../conversion/neutral.ts";
import { inputText, loseFailure, outputParts, type SourcedResult } from "../conversion/outputs.ts";
import type { ResponsesFunctionCallOutput } from "./call-items.ts";
import type { ResponsesInputPart, ResponsesTextPart } from "./content.ts";
import type { ResponsesItem, ResponsesOutputMessage, ResponsesReasoning } from "./items.ts";

/** See `Conversion.write`. Each text of the model's, each call and each result is an item of its own. */
export function writeItems(messages: readonly NeutralMessage[], losses: Losses): ResponsesItem[] {
  return messages.flatMap(({ role, parts }): ResponsesItem[] => {
    if (role === "assistant") return outputItems(parts, losses);
    if (role === "tool") return parts.flatMap((sourced) => resultItem(sourced, losses));
    const content = parts.flatMap((sourced) => inputPart(sourced, losses));
    const [first] = content;
    if (first === undefined) return [];
    return [{ role, content: content.length === 1 && first.type === "input_text" ? first.text : content }];
  });
}

function inputPart(sourced: SourcedPart, losses: Losses): ResponsesInputPart[] {
  const { part } = sourced;
  const content = part.type === "text" || part.type === "media" ? contentPart(part) : undefined;
  if (content === undefined) {
    losses.part(sourced);
    return [];
  }
  const asked = part.type === "media" ? part.options?.openai?.imageDetail : undefined;
  const isKept = content.type !== "input_text" && content.detail === asked;
  losses.options(sourced, isKept ? ["openai.imageDetail"] : []);
  if (content.type === "input_image") losses.filename(sourced);
  return [content];
}

function contentPart(part: OutputPart): ResponsesInputPart | undefined {
  if (part.type === "text") return { type: "input_text", text: part.text };
  const { medium, options } = part;
  const asked = options?.openai?.imageDetail;
  switch (topType(medium)) {
    case "audio":
    case "video":
      return undefined;
    case "image": {
      const at = placeOf(medium);
      const detail = oneOf(["low", "high", "auto", "original"], asked) ?? "auto";
      return at && { type: "input_image", detail, ...at };
    }
  }
  const detail = oneOf(["low", "high", "auto"], asked);
  const file = {
    type: "input_file" as const,
    ...(detail === undefined ? {} : { detail }),
    ...(medium.filename === undefined ? {} : { filename: medium.filename }),
  };
  if ("url" in medium) return { ...file, file_url: medium.url };
  if ("reference" in medium) {
    const id = medium.reference.openai;
    return id === undefined ? undefined : { ...file, file_id: id };
  }
  return { ...file, file_data: dataUrl(medium) as string, filename: filenameOf(medium) };
}

function oneOf<T extends string>(values: readonly T[], value: unknown): T | undefined {
  return values.find((one) => one === value);
}

function placeOf(medium: Medium): { image_url: string } | { file_id: string } | undefined {
  if ("reference" in medium) {
    const id = medium.reference.openai;
    return id === undefined ? undefined : { file_id: id };
  }
  const url = "url" in medium ? medium.url : dataUrl(medium);
  return url === undefined ? undefined : { image_url: url };
}

function outputItems(parts: readonly SourcedPart[], losses: Losses): ResponsesItem[] {
  const items: ResponsesItem[] = [];
  for (const sourced of withoutReasoningOfRuns(parts, losses)) {
    const { part } = sourced;
    if (part.type === "text") {
      losses.options(sourced);
      addText(items, part);
    } else if (part.type === "call" && part.providerExecuted !== true) {
      losses.options(sourced);
      const call = { call_id: part.id, name: part.name, arguments: inputText(part, sourced, losses) };
      items.push({ type: "function_call", ...call, ...itemId(part) });
    } else if (!addThought(items, sourced, losses)) {
      losses.part(sourced);
    }
  }
  return items;
}

/**
 * The API refuses reasoning without the item that it led to, and what the API ran itself has no place here. By its id it
 * knows of what stands behind that reasoning, and refuses it without, so that goes without the id.
 */
function withoutReasoningOfRuns(parts: readonly SourcedPart[], losses: Losses): readonly SourcedPart[] {
  const lost = new Set<SourcedPart>();
  let led: SourcedPart["part"] | undefined;
  for (const sourced of parts.toReversed()) {
    if (sourced.part.type !== "reasoning") led = sourced.part;
    else if (led?.type === "call" && led.providerExecuted === true) lost.add(sourced);
  }
  let isUnbound = false;
  return parts.flatMap((sourced) => {
    if (lost.has(sourced)) losses.part(sourced);
    isUnbound = lost.has(sourced) || (isUnbound && sourced.part.type !== "reasoning");
    if (lost.has(sourced)) return [];
    return [isUnbound ? withoutItemId(sourced) : sourced];
  });
}

function withoutItemId(sourced: SourcedPart): SourcedPart {
  const { part } = sourced;
  if (part.type !== "text" && part.type !== "call") return sourced;
  const { itemId: _, ...openai } = part.options?.openai ?? {};
  return { ...sourced, part: { ...part, options: { ...part.options, openai } } };
}

/** The id of the item that this API made of a part; reasoning goes back before the item that it belongs to. */
function itemId({ options }: WithOptions): { id?: string } {
  const id = options?.openai?.itemId;
  return typeof id === "string" ? { id } : {};
}

/** Texts of one item stay in one. */
function addText(items: ResponsesItem[], part: { readonly text: string } & WithOptions): void {
  const { id } = itemId(part);
  if (id === undefined) {
    items.push({ role: "assistant", content: part.text });
    return;
  }
  const text = { type: "output_text" as const, text: part.text, annotations: [] };
  const last = items.at(-1) as Partial<ResponsesOutputMessage> | undefined;
  if (last?.type === "message" && last.id === id) last.content?.push(text);
  else items.push({ type: "message", id, role: "assistant", status: "completed", content: [text] });
}

/** The API takes back its own reasoning only, by the item's id; several texts of one item come one after another. */
function addThought(items: ResponsesItem[], sourced: SourcedPart, losses: Losses): boolean {
  const { part } = sourced;
  if (part.type !== "reasoning") return false;
  const { id } = itemId(part);
  const encrypted = part.options?.openai?.reasoningEncryptedContent;
  if (id === undefined) return false;
  losses.options(sourced, ["openai.reasoningEncryptedContent"]);
  const summary = part.text === "" ? [] : [{ type: "summary_text" as const, text: part.text }];
  const last = items.at(-1);
  if (last?.type === "reasoning" && (last as ResponsesReasoning).id === id) {
    (last as ResponsesReasoning).summary.push(...summary);
    return true;
  }
  const content = typeof encrypted === "string" ? { encrypted_content: encrypted } : {};
  items.push({ type: "reasoning", id, summary, ...content });
  return true;
}

function resultItem(sourced: SourcedPart, losses: Losses): ResponsesItem[] {
  const { part, index, kind } = sourced;
  if (part.type !== "result") {
    losses.part(sourced);
    return [];
  }
  losses.options(sourced);
  loseFailure(sourced as SourcedResult, losses);
  const content = outputParts(sourced as SourcedResult, losses).flatMap((nested) =>
    inputPart({ index, kind: `${kind}.${nested.type}`, part: nested }, losses),
  );
  const [first] = content;
  const isText = first === undefined || (content.length === 1 && first.type === "input_text");
  const output: ResponsesFunctionCallOutput["output"] = isText
    ? ((first as ResponsesTextPart | undefined)?.text ?? "")
    : content;
  return [{ type: "function_call_output", call_id: part.id, output }];
}
