import type { AfterToolCallInfo, ModelMessage } from "@tanstack/ai";
import { normalizeToolResult } from "@tanstack/ai";
import { equalContent } from "@turnkeep/core";
import { nameText } from "@turnkeep/core/store-kit";
import { tanstackFormat } from "../format.ts";

export function isQuestion({ role }: ModelMessage): boolean {
  return role === "user";
}

const checkId = nameText({ maxBytes: 256, ifEmpty: "give each question an id of its own, or none" });

/** A question is stored under its id, if it has one. Errors: `INVALID_OPTION` for one that can name nothing. */
export function checkQuestion({ id }: ModelMessage): void {
  if (id !== undefined) checkId("The id of a question given to chat", id);
}

/** Whether it comes of a run: an answer, or a tool's result. */
export function isSaidByModel({ role }: ModelMessage): boolean {
  return role === "assistant" || role === "tool";
}

/** Whether an answer waits for nothing more. */
export function isWhole(message: ModelMessage): boolean {
  const calls = tanstackFormat.toolCalls(message);
  return message.role === "assistant" && calls.every(({ providerExecuted }) => providerExecuted === true);
}

/** Why an answer is not whole. */
export type CutOff = "stopped" | "failed";

export function cutOffMark(status: CutOff): Pick<ModelMessage, "metadata"> {
  return { metadata: { turnkeep: { status } } };
}

export function isCutOff({ metadata }: ModelMessage): boolean {
  return (metadata?.turnkeep as { readonly status?: unknown } | undefined)?.status !== undefined;
}

/** What tells a message from others, the surest first: the call that it makes or answers, its id. */
export function keysOf({ role, id, toolCallId, toolCalls }: ModelMessage): readonly string[] {
  if (role === "tool") return [`result ${toolCallId}`];
  const [call] = toolCalls ?? [];
  return [...(call === undefined ? [] : [`call ${call.id}`]), ...(id === undefined ? [] : [`${role} ${id}`])];
}

/** What a message says and calls, without what tells of its making. */
export function wordsOf({ role, content, toolCallId, toolCalls = [] }: ModelMessage): string {
  const calls = toolCalls.map(({ id, function: { name, arguments: input } }) => [id, name, input]);
  return JSON.stringify([role, content ?? "", toolCallId, calls]);
}

/** The engine tells when it was said a little later than the memory. */
export function isSame(stored: ModelMessage, message: ModelMessage): boolean {
  return equalContent({ ...stored, createdAt: undefined }, { ...message, createdAt: undefined });
}

/** The SDK puts it in place of the result of a call that was approved and is still to run. */
export function isPlaceholder({ role, content }: ModelMessage): boolean {
  if (role !== "tool" || typeof content !== "string" || !content.includes("pendingExecution")) return false;
  try {
    return JSON.parse(content)?.pendingExecution === true;
  } catch {
    return false;
  }
}

/** The message that the engine will make of a tool's outcome, once all tools are done. */
export function resultOf({ ok, result, error, toolCallId }: AfterToolCallInfo): ModelMessage {
  const failure = { error: error instanceof Error ? error.message : "Unknown error" };
  return { role: "tool", content: normalizeToolResult(ok ? (result ?? null) : failure), toolCallId };
}

const interrupted = "The tool call was interrupted: no result was recorded.";

/** With a result for each call that was left open before the newest question, which the engine would run otherwise. */
export function withoutOldCalls(
  messages: readonly ModelMessage[],
  hold: (result: ModelMessage) => void,
): ModelMessage[] {
  const newest = messages.findLastIndex(isQuestion);
  const answered = new Set(messages.map(({ toolCallId }) => toolCallId));
  return messages.flatMap((message, at) => {
    if (at > newest || !message.toolCalls?.length) return message;
    const open = tanstackFormat
      .toolCalls(message)
      .filter(({ id, providerExecuted }) => !providerExecuted && !answered.has(id));
    const results = tanstackFormat.interruptedResults(open, interrupted);
    results.forEach(hold);
    return [message, ...results];
  });
}
