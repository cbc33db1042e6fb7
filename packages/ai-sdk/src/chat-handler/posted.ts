import { dataUrlFacts, isObject } from "@turnkeep/core/format-kit";
import { nameText } from "@turnkeep/core/store-kit";
import { safeValidateUIMessages, type UIMessage } from "ai";
import type { ChatChange } from "./about.ts";
import { Refusal, tooLong } from "./refusal.ts";

/**
 * Which files a browser may send, as data URLs in base64: any other URL the SDK might fetch from inside your network. The type
 * in the URL counts.
 */
export interface ChatFiles {
  /** Such as `["image/*", "application/pdf"]`. */
  readonly mediaTypes: readonly string[];
  /** Of a whole request. Default: 4,000,000. */
  readonly maxBytes?: number | undefined;
}

/** What a browser says: something of the user's, about a chat. */
export interface Posted {
  readonly id: string;
  readonly message: Question | Decisions;
  /** The newest message that the tab shows. */
  readonly seen: string | undefined;
  /** The message that a question follows in a tab which shows branches; `null`: none. */
  readonly parentId: string | null | undefined;
}

export type Question = UIMessage & { role: "user" };

export interface Decision {
  readonly id: string;
  readonly approved: boolean;
  readonly reason?: string;
}

/** What the user decides on calls that wait, under the id of the message that holds them. */
export interface Decisions {
  readonly id: string;
  readonly role: "assistant";
  readonly decisions: readonly Decision[];
}

const maxTextBytes = 256_000;
const maxFileBytes = 4_000_000;
const maxParts = 20;
const maxDecisions = 100;
const mostTitle = 200;

/** Whether a memory can have the id. `.` and `..` are none: in an address they lead elsewhere. */
export function isChatId(value: unknown): value is string {
  return isIdWithin(512, value) && !/^\.{1,2}$/.test(value);
}

/** Whether a browser may begin a chat under the id. Any other is the application's to begin, such as `user-1/chat-1`. */
export function isNewChatId(id: string): boolean {
  return /^[\w-]{1,64}$/.test(id);
}

/** Whether a message of a memory can have the id. */
export function isMessageId(value: unknown): value is string {
  return isIdWithin(256, value);
}

/** As core takes ids. `maxBytes`: in UTF-8. */
function isIdWithin(maxBytes: number, value: unknown): value is string {
  try {
    nameText({ maxBytes, ifEmpty: "give one" })("id", value as string);
    return true;
  } catch {
    return false;
  }
}

/** A form of another site can post texts alone, with the user's cookies. Errors: a `Refusal` for what it can post. */
export function checkPost({ headers }: Request): void {
  if (!/^application\/json\b/i.test(headers.get("content-type") ?? "")) {
    throw new Refusal(415, "Send application/json.");
  }
}

/** Reads a request. Errors: a `Refusal` for one that is not as it must be. */
export async function readPosted(request: Request, files: ChatFiles | undefined): Promise<Posted> {
  const limit = files === undefined ? maxTextBytes : (files.maxBytes ?? maxFileBytes);
  const body = jsonIn(await textOf(request, limit));
  if (!isObject(body)) throw notTaken();
  const { id, message, seen, parentId } = body;
  if (!isChatId(id) || !(seen === undefined || isMessageId(seen))) throw notTaken();
  if (!(parentId === undefined || parentId === null || isMessageId(parentId))) throw notTaken();
  return { id, message: await messageIn(message, files), seen, parentId };
}

/** Reads what a user changes of a chat. Errors: a `Refusal` for what is not as it must be. */
export async function readChange(request: Request): Promise<ChatChange> {
  const body = jsonIn(await textOf(request, maxTextBytes));
  const { title, archived } = isObject(body) ? body : {};
  const isTitle = typeof title === "string" && title.trim() !== "" && title.length <= mostTitle;
  if (!(title === undefined || isTitle) || !(archived === undefined || typeof archived === "boolean"))
    throw new Refusal(
      400,
      `title must be a text of 1 to ${mostTitle} characters, and archived true or false.`,
    );
  if (title === undefined && archived === undefined)
    throw new Refusal(400, "Send a title, archived, or both.");
  return {
    ...(typeof title === "string" && { title }),
    ...(typeof archived === "boolean" && { archived }),
  };
}

/** Members that are not named here are left out; other parts and roles are refused. */
async function messageIn(message: unknown, files: ChatFiles | undefined): Promise<Question | Decisions> {
  if (!isObject(message) || !isMessageId(message.id) || !Array.isArray(message.parts)) throw notTaken();
  const { id, role, parts } = message;
  if (role === "assistant") return { id, role, decisions: listOf(parts, maxDecisions, decisionIn) };
  if (role !== "user") throw notTaken();
  const question: Question = { id, role, parts: listOf(parts, maxParts, (part) => partIn(part, files)) };
  const isBlank = question.parts.every((part) => part.type === "text" && part.text.trim() === "");
  const { success } = await safeValidateUIMessages({ messages: [question] });
  if (isBlank || !success) throw notTaken();
  return question;
}

function listOf<T>(parts: readonly unknown[], most: number, read: (part: Record<string, unknown>) => T): T[] {
  if (parts.length === 0 || parts.length > most || !parts.every(isObject)) throw notTaken();
  return parts.map(read);
}

function partIn(part: Record<string, unknown>, files: ChatFiles | undefined): UIMessage["parts"][number] {
  const { type, text, url, filename } = part;
  if (type === "text" && typeof text === "string") return { type, text };
  if (type !== "file" || typeof url !== "string") throw notTaken();
  // The SDK believes the URL, whatever else the part says. A file that no model takes would spoil every later question.
  const { mediaType = "", data = "" } = dataUrlFacts(url) ?? {};
  const isTaken = files?.mediaTypes.some((taken) =>
    taken.endsWith("/*") ? mediaType.startsWith(taken.slice(0, -1)) : taken === mediaType,
  );
  if (isTaken !== true || !/^[\w.+-]+\/[\w.+-]+$/.test(mediaType) || !isBase64(data)) throw notTaken();
  return {
    type,
    mediaType,
    url: `data:${mediaType};base64,${data}`,
    ...(typeof filename === "string" && { filename: filename.slice(0, 200) }),
  };
}

/** Whether it is base64 with its padding, of a byte or more. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[a-z\d+/]+={0,2}$/i.test(text);
}

function decisionIn({ type, state, approval }: Record<string, unknown>): Decision {
  const isCall = typeof type === "string" && /^(?:tool-.+|dynamic-tool)$/s.test(type);
  if (!isCall || state !== "approval-responded" || !isObject(approval)) throw notTaken();
  const { id, approved, reason } = approval;
  const isNamed = typeof id === "string" && id !== "" && id.length <= 200;
  const hasReason = typeof reason === "string" && reason !== "";
  if (!isNamed || typeof approved !== "boolean" || (hasReason && reason.length > 1000)) throw notTaken();
  return { id, approved, ...(hasReason && { reason }) };
}

function notTaken(): Refusal {
  return new Refusal(400, "This is no message that can be taken.");
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Stops reading at the limit, whatever length the request claims. */
async function textOf({ body, headers }: Request, limit: number): Promise<string> {
  const claimed = Number(headers.get("content-length"));
  if (claimed > limit) throw new Refusal(413, tooLong(claimed, limit, "bytes"));
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limit) throw new Refusal(413, tooLong(size, limit, "bytes"));
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
