import { isObject } from "@turnkeep/core/format-kit";

/**
 * The name of a tool that there is, or one that OpenAI takes: it refuses each later request for one that a model made up, such
 * as `functions.weather`.
 */
export function sentName(name: unknown, tools: ReadonlySet<string>): unknown {
  if (typeof name !== "string" || tools.has(name)) return name;
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "_";
}

interface AnyMessage {
  readonly role: string;
  readonly tool_calls?: readonly AnyCall[] | null | undefined;
}

interface AnyCall {
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | undefined;
}

/**
 * The messages with calls as servers take them back. Arguments that are no JSON object, of an answer that was cut off say, are
 * refused in each later request by vLLM, SGLang and llama.cpp: an empty one is sent for them. What is in order is the same.
 */
export function withSentCalls<M extends { readonly role: string }>(
  messages: readonly M[],
  tools: ReadonlySet<string>,
): readonly M[] {
  return messages.map((message) => {
    const { role, tool_calls: calls } = message as AnyMessage;
    if (role !== "assistant" || !Array.isArray(calls)) return message;
    const sent = (calls as readonly AnyCall[]).map((call) => sentCall(call, tools));
    return sent.every((call, place) => call === calls[place]) ? message : { ...message, tool_calls: sent };
  });
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
