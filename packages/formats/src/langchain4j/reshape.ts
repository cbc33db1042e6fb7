import type { CallPlace } from "@turnkeep/core";
import { joinedMembers, withMember } from "@turnkeep/core/format-kit";
import { isLeftOut, mapList } from "../reshape.ts";
import { resultName } from "./calls.ts";
import type { LangChain4jAiMessage, LangChain4jContent, LangChain4jMessage } from "./messages.ts";
import { hasReasoning, isEmptyMessage } from "./without.ts";

export function textMessage(role: "user" | "assistant", text: string): LangChain4jMessage {
  return role === "user" ? { type: "USER", contents: [{ type: "TEXT", text }] } : { type: "AI", text };
}

/** A call without an id is paired by its tool's name: there is nothing to rename. */
export function renameCalls(
  message: LangChain4jMessage,
  rename: (id: string, of?: CallPlace) => string,
): LangChain4jMessage {
  const renamed = <T extends { readonly id?: string | undefined }>(of: T, place: CallPlace): T =>
    of.id ? withMember(of, "id", rename(of.id, place)) : of;
  if (message.type === "TOOL_EXECUTION_RESULT") return renamed(message, "result");
  if (message.type !== "AI" || message.toolExecutionRequests === undefined) return message;
  const calls = mapList(message.toolExecutionRequests, (call) =>
    call === null ? null : renamed(call, "call"),
  );
  return withMember(message, "toolExecutionRequests", calls);
}

/** What has no name gets one, if `rename` has one for the empty name. */
export function renameTools(
  message: LangChain4jMessage,
  rename: (name: string) => string,
): LangChain4jMessage {
  if (message.type === "TOOL_EXECUTION_RESULT") {
    const before = resultName(message);
    const name = before === undefined ? undefined : rename(before);
    return name === before ? message : { ...message, toolName: name };
  }
  if (message.type !== "AI" || message.toolExecutionRequests === undefined) return message;
  const calls = mapList(message.toolExecutionRequests, (call) => {
    if (call === null) return null;
    const name = rename(call.name ?? "");
    return name === (call.name ?? "") ? call : { ...call, name };
  });
  return withMember(message, "toolExecutionRequests", calls);
}

/** A model's answer has one text, and a result answers one call: only calls, and what a user says, have room for more. */
export function joined(
  first: LangChain4jMessage,
  second: LangChain4jMessage,
): LangChain4jMessage | undefined {
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

export function withoutEmptyText(
  message: LangChain4jMessage,
  which: "empty" | "blank",
): LangChain4jMessage | undefined {
  switch (message.type) {
    case "SYSTEM":
      return isLeftOut(message.text, which) ? undefined : message;
    case "USER": {
      const isKept = (content: LangChain4jContent | null): boolean =>
        content?.type !== "TEXT" || !isLeftOut(content.text, which);
      const contents = message.contents.filter(isKept);
      if (contents.length === message.contents.length) return message;
      return contents.some((content) => content !== null) ? { ...message, contents } : undefined;
    }
    case "AI": {
      if (message.text === undefined || !isLeftOut(message.text, which)) return message;
      const { text: _, ...copy } = message;
      return isEmptyMessage(copy) ? undefined : copy;
    }
    default:
      return message;
  }
}
