import { isObject } from "@turnkeep/core/format-kit";
import { checkMessage } from "./check.ts";
import { defaultsOf, leavesOutEmptyAttributes, withDefaults } from "./defaults.ts";
import { canonicalBase64, doubleText, isJavaUri } from "./java.ts";
import { maxDepth } from "./json.ts";
import type { LangChain4jMessage } from "./messages.ts";
import { detailLevels, memberOf, pdfType, pointerTo, refused } from "./places.ts";

type Writer = (value: unknown, place: string) => string;
/** The members in the order in which LangChain4j writes them. */
type Writers = readonly (readonly [name: string, write: Writer])[];

/**
 * Writes one message as LangChain4j's `ChatMessageSerializer.messageToJson` does, character for character; `null` gives
 * `null`. An empty `name` of a user message is left out, as in LangChain4j.
 *
 * Errors: `INVALID_MESSAGE` for what LangChain4j could not read back: an unknown member or kind of content, a URL that
 * is not a URI. It names the place, never the content.
 *
 * @example
 * ```ts
 * import { messageToJson } from "@turnkeep/formats/langchain4j";
 *
 * messageToJson({ type: "SYSTEM", text: "Be brief." }); // '{"text":"Be brief.","type":"SYSTEM"}'
 * ```
 */
export function messageToJson(message: LangChain4jMessage | null): string {
  return writeMessage(message, "message");
}

/**
 * Writes a list as LangChain4j's `ChatMessageSerializer.messagesToJson` does; see {@link messageToJson}.
 *
 * Errors: `INVALID_MESSAGE` for what LangChain4j could not read back; it names the place, never the content.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { langchain4jFormat, messagesToJson } from "@turnkeep/formats/langchain4j";
 *
 * const memory = createChatMemory({ format: langchain4jFormat });
 * await memory.add({ type: "USER", contents: [{ type: "TEXT", text: "Hello" }] });
 * messagesToJson(await memory.messages()); // '[{"contents":[{"text":"Hello","type":"TEXT"}],"type":"USER"}]'
 * ```
 */
export function messagesToJson(messages: readonly (LangChain4jMessage | null)[] | null): string {
  if (messages === null) return "null";
  if (!Array.isArray(messages)) throw refused("messages", "must be a list.");
  return listOf(writeMessage)(messages, "messages");
}

const fileWriters: Writers = [
  ["url", writeUri],
  ["base64Data", writeText],
  ["mimeType", writeText],
];
const audioWriters: Writers = [
  ["url", writeUri],
  ["binaryData", writeBytes],
  ["base64Data", writeText],
  ["mimeType", writeText],
];

const contentWriters: Readonly<Record<string, Writers>> = {
  TEXT: [["text", writeText]],
  IMAGE: [
    ["image", objectOf([...fileWriters, ["revisedPrompt", writeText]])],
    ["detailLevel", writeDetailLevel],
  ],
  AUDIO: [["audio", objectOf(audioWriters)]],
  VIDEO: [["video", objectOf(fileWriters)]],
  PDF: [
    ["pdfFile", (file, place) => objectOf(fileWriters)(withDefaults({ mimeType: pdfType }, file), place)],
  ],
};

const writeCalls = listOf(
  orNull(
    objectOf([
      ["id", writeText],
      ["name", writeText],
      ["arguments", writeText],
    ]),
  ),
);
const writeContents = listOf(orNull(writeContent));

const messageWriters: Readonly<Record<string, (attributes: Writer) => Writers>> = {
  SYSTEM: (attributes) => [
    ["text", writeText],
    ["attributes", attributes],
  ],
  USER: (attributes) => [
    ["name", writeText],
    ["contents", writeContents],
    ["attributes", attributes],
  ],
  AI: (attributes) => [
    ["text", writeText],
    ["thinking", writeText],
    ["toolExecutionRequests", writeCalls],
    ["attributes", attributes],
  ],
  TOOL_EXECUTION_RESULT: (attributes) => [
    ["id", writeText],
    ["toolName", writeText],
    ["contents", writeContents],
    ["isError", (flag) => String(flag)],
    ["attributes", attributes],
  ],
  CUSTOM: (attributes) => [["attributes", attributes]],
};

function writeMessage(message: unknown, place: string): string {
  if (message === null) return "null";
  checkMessage(message, place);
  const { type, attributeDoubles, ...members } = withDefaults(
    defaultsOf(message as LangChain4jMessage),
    message,
  );
  if (type === "USER" && members.name === "") delete members.name;
  if (leavesOutEmptyAttributes(type as string) && Object.keys(members.attributes as object).length === 0)
    delete members.attributes;
  const doubles = new Set(attributeDoubles as readonly string[] | undefined);
  const writers = messageWriters[type as string] as (attributes: Writer) => Writers;
  return typed(
    writers((attributes, at) => writeValue(attributes, at, "", doubles, 2)),
    members,
    place,
    type as string,
  );
}

function writeContent(content: unknown, place: string): string {
  const { type, ...members } = content as Record<string, unknown>;
  const writers = Object.hasOwn(contentWriters, type as string) ? contentWriters[type as string] : undefined;
  if (writers === undefined)
    throw refused(memberOf(place, "type"), `must be one of ${Object.keys(contentWriters).join(", ")}.`);
  const defaults = type === "IMAGE" ? { detailLevel: detailLevels[0] } : {};
  return typed(writers, withDefaults(defaults, members), place, type as string);
}

function typed(writers: Writers, members: Record<string, unknown>, place: string, type: string): string {
  return objectOf([...writers, ["type", writeText]])({ ...members, type }, place);
}

function objectOf(writers: Writers): Writer {
  const names = new Set(writers.map(([name]) => name));
  return (value, place) => {
    const members = value as Record<string, unknown>;
    const unknown = Object.keys(members).find((name) => !names.has(name) && members[name] !== undefined);
    if (unknown !== undefined)
      throw refused(memberOf(place, unknown), "is not a member that LangChain4j knows.");
    const written = writers.flatMap(([name, write]) =>
      members[name] === undefined ? [] : [`"${name}":${write(members[name], memberOf(place, name))}`],
    );
    return `{${written.join(",")}}`;
  };
}

function listOf(write: Writer): Writer {
  return (value, place) =>
    `[${(value as readonly unknown[]).map((item, index) => write(item, `${place}[${index}]`)).join(",")}]`;
}

function orNull(write: Writer): Writer {
  return (value, place) => (value === null ? "null" : write(value, place));
}

const named: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\b", "\\b"],
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\f", "\\f"],
  ["\r", "\\r"],
]);

/** Escapes what JSON asks for and nothing else: a lone surrogate stays as it is. */
function writeText(value: unknown): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what JSON asks to be escaped
  const escaped = (value as string).replace(/["\\\u0000-\u001f]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return named.get(character) ?? `\\u${code}`;
  });
  return `"${escaped}"`;
}

function writeUri(value: unknown, place: string): string {
  if (!isJavaUri(value as string)) throw refused(place, "must be a valid URI.");
  return writeText(value);
}

function writeBytes(value: unknown, place: string): string {
  const bytes = canonicalBase64(value as string);
  if (bytes === undefined) throw refused(place, "must be base64 text.");
  return writeText(bytes);
}

function writeDetailLevel(value: unknown, place: string): string {
  if (!(detailLevels as readonly unknown[]).includes(value))
    throw refused(place, `must be one of ${detailLevels.join(", ")}.`);
  return writeText(value);
}

function writeValue(
  value: unknown,
  place: string,
  pointer: string,
  doubles: ReadonlySet<string>,
  depth: number,
): string {
  if (depth > maxDepth) throw refused(place.slice(0, 80), `is nested deeper than ${maxDepth}.`);
  const inner = (item: unknown, name: string | number, at: string): string =>
    writeValue(item, at, doubles.size > 0 ? pointerTo(pointer, name) : "", doubles, depth + 1);
  if (value === null || typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "string") return writeText(value);
  if (typeof value === "number") {
    const isInteger = Number.isSafeInteger(value) && !Object.is(value, -0) && !doubles.has(pointer);
    return isInteger ? String(value) : doubleText(value);
  }
  if (Array.isArray(value)) {
    return `[${value.map((item, index) => inner(item, index, `${place}[${index}]`)).join(",")}]`;
  }
  if (!isObject(value) || ![Object.prototype, null].includes(Object.getPrototypeOf(value)))
    throw refused(place, "must be what JSON holds, or a bigint.");
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${writeText(name)}:${inner(member, name, memberOf(place, name))}`).join(",")}}`;
}
