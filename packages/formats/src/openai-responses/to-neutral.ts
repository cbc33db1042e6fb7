import { asText } from "@turnkeep/core/format-kit";
import { isDirect } from "../conversion/caller.ts";
import type { Losses, Source } from "../conversion/losses.ts";
import { mediumOf, withFilename } from "../conversion/media.ts";
import {
  type Medium,
  type NeutralMessage,
  type OutputPart,
  type SourcedPart,
  sourced,
  type WithOptions,
} from "../conversion/neutral.ts";
import { inputOf, outputOf } from "../conversion/outputs.ts";
import { type AnyItem, partsOf, typeOf } from "./any-item.ts";
import { openaiResponsesFormat as format } from "./format.ts";
import type { ResponsesItem } from "./items.ts";

/** See `Conversion.read`. What the model put out in a row is one message. */
export function readItems(items: readonly ResponsesItem[], losses: Losses): NeutralMessage[] {
  const messages: { role: NeutralMessage["role"]; parts: SourcedPart[] }[] = [];
  const lost = ledToLost(items);
  let isUnbound = false;
  items.forEach((item, index) => {
    if (lost.has(index)) {
      losses.add(index, "reasoning");
      isUnbound = true;
      return;
    }
    const role = format.role(item);
    isUnbound &&= role === "assistant" && typeOf(item) !== "reasoning";
    const parts = readItem(isUnbound ? withoutId(item) : item, { index, losses });
    const last = messages.at(-1);
    if (role === "assistant" && last?.role === "assistant") last.parts.push(...parts);
    else if (parts.length > 0) messages.push({ role, parts });
  });
  return messages;
}

/** The places of reasoning that led to what the API ran itself: it refuses the one without the other. */
function ledToLost(items: readonly ResponsesItem[]): ReadonlySet<number> {
  const lost = new Set<number>();
  let isRun = false;
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] as ResponsesItem;
    const type = typeOf(item);
    if (type !== "reasoning") isRun = format.role(item) === "assistant" && !answerTypes.has(type);
    else if (isRun) lost.add(index);
  }
  return lost;
}

/** By its id the API knows the reasoning that stood before an answer, and refuses it without. */
function withoutId(item: ResponsesItem): ResponsesItem {
  return answerTypes.has(typeOf(item)) ? ({ ...item, id: undefined } as ResponsesItem) : item;
}

/** What the model puts out that means something to another API. */
const answerTypes: ReadonlySet<unknown> = new Set(["message", "function_call", "custom_tool_call"]);

function readItem(message: ResponsesItem, source: Source): SourcedPart[] {
  const { index, losses } = source;
  const item = message as unknown as AnyItem;
  const type = typeOf(message);
  const lose = (...known: string[]): void => {
    const caller = isDirect(item.caller) ? ["caller"] : [];
    losses.members(index, type, item, ["type", "id", "status", ...caller, ...known]);
  };
  switch (type) {
    case "message":
      losses.members(index, "message", item, ["type", "id", "status", "role", "content"]);
      return readContent(item.content, source).map(({ kind, part }) =>
        sourced(source, kind, part.type === "text" ? { ...part, ...itemOptions(item) } : part),
      );
    case "reasoning":
      return readReasoning(item, source);
    case "function_call":
    case "custom_tool_call": {
      lose("call_id", "name", "arguments", "input");
      const isFunction = type === "function_call";
      const input = isFunction ? inputOf(asText(item.arguments)) : asText(item.input);
      const call = { id: item.call_id as string, name: item.name as string, input };
      return [sourced(source, type, { type: "call", ...call, ...itemOptions(item) })];
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const [result] = format.toolResults(message);
      if (result === undefined) break;
      lose("call_id", "output", "name");
      const output = outputOf(readContent(item.output, source).map(({ part }) => part));
      const name = typeof item.name === "string" ? { name: item.name } : {};
      return [sourced(source, type, { type: "result", id: result.id, ...name, output })];
    }
  }
  // Calls of other kinds, and what answers them, mean nothing to another API.
  const calls = format.toolCalls(message);
  for (const { id } of calls) losses.call(index, type, id);
  if (calls.length === 0) losses.add(index, type);
  return [];
}

/** The item's own id, which other items may need beside it. */
function itemOptions({ id }: AnyItem): WithOptions {
  return typeof id === "string" && id !== "" ? { options: { openai: { itemId: id } } } : {};
}

function readReasoning(item: AnyItem, source: Source): SourcedPart[] {
  const { id, encrypted_content: encrypted } = item;
  const { index, losses } = source;
  const member = partsOf(item.content).length > 0 ? "content" : "summary";
  losses.members(index, item.type, item, ["type", "id", "status", "encrypted_content", member]);
  const texts = partsOf(item[member]).flatMap((part) => {
    const isText = typeof part.text === "string";
    losses.members(index, `${item.type}.${part.type}`, part, isText ? ["type", "text"] : ["type"]);
    return isText ? [part.text as string] : [];
  });
  const openai = {
    ...(typeof id === "string" ? { itemId: id } : {}),
    ...(typeof encrypted === "string" ? { reasoningEncryptedContent: encrypted } : {}),
  };
  // What has no text is still needed beside the items behind it, which the API takes with it alone.
  if (texts.length === 0 && Object.keys(openai).length === 0) {
    losses.add(index, item.type);
    return [];
  }
  return (texts.length > 0 ? texts : [""]).map((text) =>
    sourced(source, item.type, { type: "reasoning", text, options: { openai } }),
  );
}

interface ContentPart {
  readonly kind: string;
  readonly part: OutputPart;
}

function readContent(content: unknown, source: Source): ContentPart[] {
  if (typeof content === "string") return [{ kind: "text", part: { type: "text", text: content } }];
  return partsOf(content).flatMap((part) => readPart(part, source));
}

function readPart(part: AnyItem, { index, losses }: Source): ContentPart[] {
  const { type } = part;
  if (type === "input_text" || type === "output_text") {
    losses.members(index, type, part, ["type", "text"]);
    return [{ kind: type, part: { type: "text", text: part.text as string } }];
  }
  const medium = mediumOfPart(part);
  if (medium === undefined) {
    losses.add(index, type);
    return [];
  }
  losses.members(index, type, part, ["type", "detail", ...mediaMembers]);
  const detail = typeof part.detail === "string" && part.detail !== "auto" ? part.detail : undefined;
  const options = detail === undefined ? {} : { options: { openai: { imageDetail: detail } } };
  return [{ kind: type, part: { type: "media", medium, ...options } }];
}

const mediaMembers: readonly string[] = ["image_url", "file_id", "file_data", "file_url", "filename"];

function mediumOfPart(part: AnyItem): Medium | undefined {
  const { type, image_url: image, file_id: id, file_url: url, file_data: data } = part;
  const reference = typeof id === "string" && id !== "" ? { reference: { openai: id } } : undefined;
  if (type === "input_image") {
    if (typeof image === "string" && image !== "") return mediumOf(image, "image/*");
    return reference && { ...reference, mediaType: "image/*" };
  }
  if (type !== "input_file") return undefined;
  if (typeof data === "string" && data !== "")
    return withFilename(/^data:/i.test(data) ? mediumOf(data) : { base64: data }, part.filename);
  const linked = typeof url === "string" ? mediumOf(url) : undefined;
  return withFilename(linked ?? reference, part.filename);
}
