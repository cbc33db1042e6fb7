import { checkMessage } from "./check.ts";
import { leavesOutEmptyAttributes } from "./defaults.ts";
import { type JsonNode, JsonObject, readJson } from "./json.ts";
import type { LangChain4jMessage } from "./messages.ts";
import { detailLevels, memberOf, pdfType, refused } from "./places.ts";
import {
  asAttributes,
  asBytes,
  asDetailLevel,
  asFlag,
  asText,
  asUri,
  type ReadAttributes,
} from "./read-values.ts";

type Reader = (node: JsonNode, place: string) => unknown;
type Readers = Readonly<Record<string, Reader>>;

/**
 * Reads one message as LangChain4j's `ChatMessageDeserializer.messageFromJson` does, including what older versions
 * wrote. The text `null` gives `null`, and anything after the first value is ignored.
 *
 * Errors: `INVALID_MESSAGE` for what LangChain4j could not read; it names the place, never the content.
 *
 * @example
 * ```ts
 * import { messageFromJson } from "@turnkeep/formats/langchain4j";
 *
 * messageFromJson('{"text":"Be brief.","type":"SYSTEM"}'); // { type: "SYSTEM", text: "Be brief." }
 * ```
 */
export function messageFromJson(text: string): LangChain4jMessage | null {
  return asMessage(readJson(checkedText(text)), "message");
}

/**
 * Reads a list as LangChain4j's `ChatMessageDeserializer.messagesFromJson` does; see {@link messageFromJson}. No text,
 * or the text `null`, gives an empty list. The list may contain `null`, because LangChain4j lets such entries through.
 *
 * Errors: `INVALID_MESSAGE` for what LangChain4j could not read; it names the place, never the content.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { langchain4jFormat, messagesFromJson } from "@turnkeep/formats/langchain4j";
 *
 * const messages = messagesFromJson('[{"contents":[{"text":"Hello","type":"TEXT"}],"type":"USER"}]');
 * const memory = createChatMemory({ format: langchain4jFormat });
 * await memory.add(...messages.filter((message) => message !== null));
 * ```
 */
export function messagesFromJson(text: string | null | undefined): (LangChain4jMessage | null)[] {
  if (text === null || text === undefined) return [];
  const node = readJson(checkedText(text));
  return node === null ? [] : itemsOf(node, "messages", asMessage);
}

function checkedText(text: unknown): string {
  if (typeof text === "string") return text;
  throw refused("The JSON text", "must be a string.");
}

const fileReaders: Readers = { url: asUri, base64Data: asText, mimeType: asText };

const contentReaders: Readonly<Record<string, Readers>> = {
  TEXT: { text: asText },
  IMAGE: {
    image: objectOf({ ...fileReaders, revisedPrompt: asText }),
    detailLevel: asDetailLevel,
  },
  AUDIO: { audio: objectOf({ ...fileReaders, binaryData: asBytes }) },
  VIDEO: { video: objectOf(fileReaders) },
  PDF: { pdfFile: objectOf(fileReaders) },
};

const messageReaders: Readonly<Record<string, Readers>> = {
  SYSTEM: { text: asText, attributes: asAttributes },
  USER: { name: asText, contents: listOf(asContent), attributes: asAttributes },
  AI: {
    text: asText,
    thinking: asText,
    toolExecutionRequests: listOf(objectOf({ id: asText, name: asText, arguments: asText })),
    attributes: asAttributes,
  },
  TOOL_EXECUTION_RESULT: {
    id: asText,
    toolName: asText,
    text: asText,
    contents: listOf(asContent),
    isError: asFlag,
    attributes: asAttributes,
  },
  CUSTOM: { attributes: asAttributes },
};

function asMessage(node: JsonNode, place: string): LangChain4jMessage | null {
  const read = typedObject(node, place, messageReaders);
  if (read === null) return null;
  const { attributes, ...message } = read as { type: string; attributes?: ReadAttributes };
  const isEmpty = Object.keys(attributes?.attributes ?? {}).length === 0;
  if (!(leavesOutEmptyAttributes(message.type) && isEmpty))
    Object.assign(message, attributes ?? { attributes: {} });
  if (message.type === "AI") Object.assign(message, { toolExecutionRequests: [], ...message });
  if (message.type === "TOOL_EXECUTION_RESULT") takeText(message, place);
  checkMessage(message, place);
  return message as LangChain4jMessage;
}

/** The form of a result in older versions: a text instead of contents. */
function takeText(
  message: { type: string; text?: string; contents?: readonly unknown[] },
  place: string,
): void {
  const { text, contents = [] } = message;
  if (text === undefined) return;
  if (contents.length > 0) throw refused(place, "has both text and contents; one of them must be absent.");
  delete message.text;
  message.contents = [{ type: "TEXT", text }];
}

function asContent(node: JsonNode, place: string): unknown {
  const content = typedObject(node, place, contentReaders) as {
    type: string;
    detailLevel?: string;
    pdfFile?: object;
  } | null;
  if (content?.type === "IMAGE" && content.detailLevel === undefined) {
    throw refused(memberOf(place, "detailLevel"), `must be one of ${detailLevels.join(", ")}.`);
  }
  if (content?.pdfFile !== undefined) content.pdfFile = { mimeType: pdfType, ...content.pdfFile };
  return content;
}

/** An object of the kind that its `type` names, wherever it stands. */
function typedObject(
  node: JsonNode,
  place: string,
  kinds: Readonly<Record<string, Readers>>,
): ({ type: string } & Record<string, unknown>) | null {
  if (node === null) return null;
  if (!(node instanceof JsonObject)) throw refused(place, "must be an object.");
  const at = node.members.findIndex(([name]) => name === "type");
  const type = node.members[at]?.[1];
  if (typeof type !== "string" || !Object.hasOwn(kinds, type)) {
    throw refused(memberOf(place, "type"), `must be one of ${Object.keys(kinds).join(", ")}.`);
  }
  const members = new JsonObject(node.members.filter((_member, index) => index !== at));
  return { type, ...(objectOf(kinds[type] as Readers)(members, place) as object) };
}

/** An object with these members and no other; one that is `null` is absent, and of a repeated one the last counts. */
function objectOf(readers: Readers): Reader {
  return (node, place) => {
    if (node === null) return null;
    if (!(node instanceof JsonObject)) throw refused(place, "must be an object.");
    const read: Record<string, unknown> = {};
    for (const [name, value] of node.members) {
      const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
      const member = memberOf(place, name);
      if (reader === undefined) throw refused(member, "is not a member that LangChain4j knows.");
      const item = reader(value, member);
      if (item === null) delete read[name];
      else read[name] = item;
    }
    return read;
  };
}

function listOf(reader: Reader): Reader {
  return (node, place) => (node === null ? null : itemsOf(node, place, reader));
}

function itemsOf<T>(node: JsonNode, place: string, reader: (node: JsonNode, place: string) => T): T[] {
  if (!Array.isArray(node)) throw refused(place, "must be a list.");
  return (node as readonly JsonNode[]).map((item, index) => reader(item, `${place}[${index}]`));
}
