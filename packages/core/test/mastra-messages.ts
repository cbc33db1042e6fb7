import { readFileSync } from "node:fs";
import type { ModelMessageLike } from "../src/index.ts";

/** A part as the recorded Mastra cases write it. */
export interface RecordedPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly args?: unknown;
  readonly input?: unknown;
  readonly result?: unknown;
  readonly output?: unknown;
  readonly image?: string;
  readonly data?: string;
  readonly mimeType?: string;
}

export interface RecordedMessage {
  readonly role: string;
  readonly content?: string | readonly RecordedPart[] | null;
}

/** One of ours, marked with its place in the case; its parts are marked with theirs. */
export type Marked = ModelMessageLike & { readonly index: number };
export interface MarkedPart {
  readonly type: string;
  readonly part: number;
  readonly toolCallId: string;
  readonly toolName: string;
}

/** What is left of a list: each message by its index, with its parts' indices where some are gone. */
export type Left = (readonly [index: number, parts: readonly number[] | null])[];

export function loadCases<T>(kind: string): readonly T[] {
  const text = readFileSync(new URL(`./vectors/mastra-${kind}.json`, import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly cases: readonly T[] }).cases;
}

const roles = new Set(["system", "user", "assistant", "tool"]);

/** As the recording turned a message into one of Mastra's prompt; an unknown role is a user's, no content an empty list. */
export function toModelMessage({ role, content }: RecordedMessage, index: number): Marked {
  const known = roles.has(role) ? role : "user";
  const parts = Array.isArray(content) ? (content as readonly RecordedPart[]) : [];
  return {
    role: known,
    content: typeof content === "string" ? content : parts.map(toPart),
    index,
  } as unknown as Marked;
}

function toPart(recorded: RecordedPart, part: number): object {
  const { type, toolCallId, toolName, args, input, result, output } = recorded;
  if (type === "tool-call") return { type, toolCallId, toolName, input: args ?? input ?? null, part };
  if (type !== "tool-result") return { ...recorded, part };
  const plain =
    typeof result === "string" ? { type: "text", value: result } : { type: "json", value: result ?? null };
  return { type, toolCallId, toolName, output: output ?? plain, part };
}

export function partsOf({ content }: Marked): readonly MarkedPart[] {
  return typeof content === "string" ? [] : (content as unknown as readonly MarkedPart[]);
}

export function isToolPart({ type }: MarkedPart): boolean {
  return type === "tool-call" || type === "tool-result";
}

export function leftOf(all: readonly Marked[], kept: readonly Marked[]): Left {
  return kept.map((message) => {
    const before = partsOf(all.find(({ index }) => index === message.index) as Marked);
    const after = partsOf(message);
    return [message.index, after.length === before.length ? null : after.map(({ part }) => part)];
  });
}

/** The messages that are left, as a processor would answer them. */
export function messagesLeft(all: readonly Marked[], left: Left): Marked[] {
  return left.map(([index, parts]) => {
    const message = all.find((other) => other.index === index) as Marked;
    if (parts === null) return message;
    return { ...message, content: partsOf(message).filter(({ part }) => parts.includes(part)) } as never;
  });
}

const known = new WeakMap<readonly Marked[], ReadonlyMap<string, MarkedPart | undefined>>();

/** Each result with its call, the slow and obvious way; by `index:part`. */
export function callsOfResults(messages: readonly Marked[]): ReadonlyMap<string, MarkedPart | undefined> {
  const found = known.get(messages) ?? findCalls(messages);
  known.set(messages, found);
  return found;
}

function findCalls(messages: readonly Marked[]): ReadonlyMap<string, MarkedPart | undefined> {
  const found = new Map<string, MarkedPart | undefined>();
  const answered = new Set<MarkedPart>();
  for (const [at, message] of messages.entries()) {
    for (const result of partsOf(message).filter(({ type }) => type === "tool-result")) {
      const callsIn = (some: readonly Marked[]): MarkedPart[] =>
        some
          .flatMap(partsOf)
          .filter(({ type, toolCallId }) => type === "tool-call" && toolCallId === result.toolCallId);
      const before = callsIn(messages.slice(0, at + 1));
      const call =
        before.findLast((one) => !answered.has(one)) ?? before.at(-1) ?? callsIn(messages.slice(at + 1))[0];
      if (call !== undefined) answered.add(call);
      found.set(`${message.index}:${result.part}`, call);
    }
  }
  return found;
}
