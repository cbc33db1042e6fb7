import { equalContent, type MessageFormat, type Role, type ToolCallRef } from "@turnkeep/core";
import { derived, joinedMembers } from "@turnkeep/core/format-kit";
import { idByName } from "../id-by-name.ts";
import { checkMessage } from "./check.ts";
import { defaultsOf, withDefaults } from "./defaults.ts";
import type { LangChain4jAiMessage, LangChain4jMessage } from "./messages.ts";
import { hasReasoning } from "./parts.ts";
import { visitMessage } from "./visit.ts";

const roleOf: Readonly<Record<LangChain4jMessage["type"], Role>> = {
  SYSTEM: "system",
  USER: "user",
  AI: "assistant",
  TOOL_EXECUTION_RESULT: "tool",
  CUSTOM: "user",
};

/**
 * The messages of LangChain4j, in the shape of its JSON; `messagesFromJson` and `messagesToJson` read and write that
 * JSON itself. Calls without an id are paired with results by tool name. The attributes `thinking_signature` and
 * `redacted_thinking` belong to the reasoning. A custom message counts as the user's. Unknown members and contents are
 * kept.
 *
 * Its `encode` throws `INVALID_MESSAGE` for what LangChain4j could not build: an unknown type, a blank system message,
 * a user message or a result without contents, an image without its object.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { langchain4jFormat } from "@turnkeep/formats/langchain4j";
 *
 * const memory = createChatMemory({ format: langchain4jFormat, window: { maxMessages: 40, unit: "message" } });
 * await memory.add({ type: "USER", contents: [{ type: "TEXT", text: "Hello" }] });
 * ```
 */
export const langchain4jFormat: MessageFormat<LangChain4jMessage> = derived(visitMessage, {
  name: "langchain4j",
  version: 1,
  role: (message) => roleOf[message.type],
  interruptedResults,
  textMessage: (role, text) =>
    role === "user" ? { type: "USER", contents: [{ type: "TEXT", text }] } : { type: "AI", text },
  joined,
  equals: (a, b) => equalContent(filled(a), filled(b)),
  check: (message) => checkMessage(message),
});

function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly LangChain4jMessage[] {
  return calls.map(({ id, name }) => ({
    type: "TOOL_EXECUTION_RESULT",
    ...(id === idByName(name) ? {} : { id }),
    toolName: name,
    contents: [{ type: "TEXT", text }],
    isError: true,
    attributes: {},
  }));
}

/** A model's answer has one text, and a result answers one call: only calls, and what a user says, have room for more. */
function joined(first: LangChain4jMessage, second: LangChain4jMessage): LangChain4jMessage | undefined {
  if (first.type === "AI" && second.type === "AI") return withCallsOf(first, second);
  if (first.type !== "USER" || second.type !== "USER") return undefined;
  if ((first.name ?? "") !== (second.name ?? "")) return undefined;
  const members = joinedMembers(givenMembers(first), givenMembers(second), ["contents"]);
  if (members === undefined) return undefined;
  const contents = [...first.contents, ...second.contents];
  return { ...members, contents } as unknown as LangChain4jMessage;
}

function withCallsOf(
  first: LangChain4jAiMessage,
  second: LangChain4jAiMessage,
): LangChain4jMessage | undefined {
  const calls = second.toolExecutionRequests ?? [];
  if (calls.length === 0 || second.text || hasReasoning(second)) return undefined;
  const members = joinedMembers(givenMembers(first), givenMembers(second), ["text", "toolExecutionRequests"]);
  if (members === undefined) return undefined;
  const said = first.text === undefined ? {} : { text: first.text };
  const toolExecutionRequests = [...(first.toolExecutionRequests ?? []), ...calls];
  return { ...members, ...said, toolExecutionRequests } as unknown as LangChain4jMessage;
}

/** To LangChain4j, no attributes are the same as empty ones. */
function givenMembers(message: LangChain4jMessage): object {
  const isGiven = ([name, member]: [string, unknown]): boolean =>
    name !== "attributes" || Object.keys((member ?? {}) as object).length > 0;
  return Object.fromEntries(Object.entries(message).filter(isGiven));
}

/** To LangChain4j, no calls and no attributes are the same as empty ones. */
function filled(message: LangChain4jMessage): object {
  return withDefaults(defaultsOf(message), message);
}
