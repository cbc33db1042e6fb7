import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  BaseMessageChunk,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  isBaseMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import { invalidMessage } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";

/** A content block of any type, of LangChain's own or a provider's. */
export interface Block {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A call as `tool_calls` holds it. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** The members of a message, of whatever kind. */
export interface Data {
  readonly content: string | readonly Block[];
  readonly id?: string;
  readonly name?: string;
  readonly role?: string;
  readonly status?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly Call[];
  readonly invalid_tool_calls?: readonly object[];
  readonly tool_call_chunks?: readonly Block[];
  readonly additional_kwargs?: Readonly<Record<string, unknown>>;
  readonly response_metadata?: Readonly<Record<string, unknown>>;
}

/**
 * A message as plain data, in the shape of LangChain's `StoredMessage`. Unlike `toDict`, it holds what was set after the
 * message was made, and no content under another name.
 */
export interface MessageDict {
  readonly type: string;
  /** Set for what a model streamed: an `AIMessageChunk`, for example. */
  readonly chunk?: true;
  readonly data: Data;
}

type MessageClass = new (fields: never) => BaseMessage;

const classes: Readonly<Record<string, readonly [MessageClass, MessageClass]>> = {
  ai: [AIMessage, AIMessageChunk],
  function: [FunctionMessage, FunctionMessageChunk],
  generic: [ChatMessage, ChatMessageChunk],
  human: [HumanMessage, HumanMessageChunk],
  system: [SystemMessage, SystemMessageChunk],
  tool: [ToolMessage, ToolMessageChunk],
};

export function isKind(type: unknown): boolean {
  return typeof type === "string" && Object.hasOwn(classes, type);
}

/** Errors: `INVALID_MESSAGE` for what is no message of LangChain's. */
export function toDict(message: BaseMessage): MessageDict {
  if (!isBaseMessage(message)) {
    throw invalidMessage(
      `is ${kindOf(message)}, and no message of @langchain/core`,
      'Give an instance, such as new HumanMessage("Hello").',
    );
  }
  const members = Object.entries(message).filter(
    ([name, member]) => member !== undefined && name !== "type" && !name.startsWith("lc_"),
  );
  const dict = { type: message.type, data: Object.fromEntries(members) as unknown as Data };
  return message instanceof BaseMessageChunk ? { ...dict, chunk: true } : dict;
}

/** An instance of the classes that the application has. */
export function fromDict({ type, chunk, data }: MessageDict): BaseMessage {
  const [whole, chunked] = classes[type] as (typeof classes)[string];
  // The constructors derive members from others. What was stored is taken instead, whatever they would make of it.
  const message = new (chunk === true ? chunked : whole)({ content: "" } as never);
  const members = { ...data, lc_kwargs: { ...data } };
  return Object.defineProperties(message, Object.getOwnPropertyDescriptors(members));
}

/** What was streamed, as the complete message that a graph makes of it. */
export function wholeOf<M extends BaseMessage>(message: M): M {
  if (!(message instanceof BaseMessageChunk)) return message;
  const { type, data } = toDict(message);
  const { tool_call_chunks: _, ...members } = data;
  return fromDict({ type, data: members }) as M;
}

/** A message of a memory is frozen, and frameworks write into theirs. */
export function copyOf(message: BaseMessage): BaseMessage {
  return fromDict(plainDict(toDict(message)));
}

/**
 * A copy with an object of a class, such as a `Document` that a tool gave as its artifact, as JSON would have it. What
 * contains itself is left to the codec, which refuses it.
 */
export function plainDict(dict: MessageDict): MessageDict {
  return plain(dict, new Set()) as MessageDict;
}

/** As deep as the codec takes a message. */
const maxDepth = 500;

function plain(value: unknown, within: Set<object>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const leaf = leafOf(value);
  if (leaf !== undefined) return leaf;
  if (within.has(value) || within.size > maxDepth) return value;
  within.add(value);
  const copy = Array.isArray(value) ? value.map((item) => plain(item, within)) : plainRecord(value, within);
  within.delete(value);
  return copy;
}

function plainRecord(value: object, within: Set<object>): unknown {
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function") return plain(toJSON.call(value), within);
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value));
  const members = Object.entries(value).filter(([, member]) => isPlain || typeof member !== "function");
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member, within)]));
}

/** A copy of what the codec keeps by its class; other views are left to it, which refuses them. */
function leafOf(value: object): object | undefined {
  // Without bytes there is nothing to share; those that were transferred cannot be copied.
  if (value instanceof Uint8Array) return value.length === 0 ? value : new Uint8Array(value);
  if (value instanceof ArrayBuffer) return value.byteLength === 0 ? value : value.slice(0);
  if (value instanceof Date) return new Date(value);
  if (value instanceof URL) return new URL(value);
  return ArrayBuffer.isView(value) ? value : undefined;
}
