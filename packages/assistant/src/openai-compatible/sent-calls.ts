import { isObject } from "@turnkeep/core/format-kit";
import { absentReasoning } from "./reasoning.ts";

/** Who gets the messages, and the names of the tools that it is told of. */
export interface Receiver {
  readonly server: string;
  readonly tools: ReadonlySet<string>;
}

/**
 * The name of a tool that there is, or one that OpenAI takes: it refuses each later request for one that a model made up, such
 * as `functions.weather`.
 */
export function sentName(name: unknown, tools: ReadonlySet<string>): unknown {
  if (typeof name !== "string" || tools.has(name)) return name;
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "_";
}

/**
 * xAI refuses an answer with calls whose content is null or an empty list, and takes an empty text:
 * https://github.com/langchain-ai/langchain/issues/34140 (November 2025)
 */
const wantsContent = /(?:^|\.)x\.ai(?::\d+)?$/;

/** What stands for the content of an answer with calls that says nothing. */
export function absentContent(server: string): "" | null {
  return wantsContent.test(server) ? "" : null;
}

interface AnyMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly reasoning_content?: unknown;
  readonly tool_calls?: readonly AnyCall[] | null | undefined;
}

interface AnyCall {
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | undefined;
}

/**
 * The messages with calls as servers take them back. Arguments that are no JSON object, of an answer that was cut off say, are
 * refused in each later request by vLLM, SGLang and llama.cpp: an empty one is sent for them. So is reasoning beside calls to
 * servers that want it, and a content. What is in order is the same.
 */
export function withSentCalls<M extends { readonly role: string }>(
  messages: readonly M[],
  { server, tools }: Receiver,
): readonly M[] {
  const absent = absentReasoning(server);
  const content = absentContent(server);
  return messages.map((message) => {
    const { role, content: said, tool_calls: calls, reasoning_content: reasoning } = message as AnyMessage;
    if (role !== "assistant" || !Array.isArray(calls)) return message;
    const sent = (calls as readonly AnyCall[]).map((call) => sentCall(call, tools));
    const isSame = sent.every((call, place) => call === calls[place]);
    const lacks = {
      ...(calls.length > 0 && typeof reasoning !== "string" ? absent : {}),
      ...(content === "" && isNothing(said) ? { content } : {}),
    };
    if (isSame && Object.keys(lacks).length === 0) return message;
    return { ...message, ...lacks, ...(isSame ? {} : { tool_calls: sent }) };
  });
}

function isNothing(content: unknown): boolean {
  return (content ?? undefined) === undefined || (Array.isArray(content) && content.length === 0);
}

function sentCall(call: AnyCall, tools: ReadonlySet<string>): AnyCall {
  if (call.function === undefined) return call;
  const { name: given, arguments: text } = call.function;
  const name = sentName(given, tools);
  const isTaken = isObjectText(text);
  if (name === given && isTaken) return call;
  return { ...call, function: { ...call.function, name, arguments: isTaken ? text : "{}" } };
}

function isObjectText(text: unknown): boolean {
  try {
    return typeof text === "string" && isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
