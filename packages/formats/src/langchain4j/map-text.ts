import type { TextPlace } from "@turnkeep/core";
import { withMember } from "@turnkeep/core/format-kit";
import { type Change, mapList, mapMember, mapUnknownPart, mapValue } from "../reshape.ts";
import { trimmed } from "./java.ts";
import type { LangChain4jContent, LangChain4jMessage } from "./messages.ts";
import { isMedia } from "./pieces.ts";

/** LangChain4j builds no system message without a text. */
const nothing = "…";

export function mapText(message: LangChain4jMessage, change: Change): LangChain4jMessage {
  switch (message.type) {
    case "SYSTEM": {
      const text = change(message.text, "content");
      return withMember(message, "text", trimmed(text) === "" ? nothing : text);
    }
    case "USER":
      return mapContents(message, "content", change);
    case "TOOL_EXECUTION_RESULT":
      return mapContents(message, "tool-result", change);
    case "CUSTOM": {
      const attributes = message.attributes ?? {};
      const changed = mapValue(attributes, "content", change, true);
      return changed === attributes ? message : withMember(message, "attributes", changed);
    }
    case "AI": {
      const thought = message.thinking ? mapMember(message, "thinking", "reasoning", change) : message;
      const said = message.text === undefined ? thought : mapMember(thought, "text", "content", change);
      if (message.toolExecutionRequests === undefined) return said;
      const calls = mapList(message.toolExecutionRequests, (call) =>
        call === null ? null : mapMember(call, "arguments", "tool-call", change),
      );
      return withMember(said, "toolExecutionRequests", calls);
    }
  }
}

function mapContents<M extends { readonly contents: readonly (LangChain4jContent | null)[] }>(
  message: M,
  of: TextPlace,
  change: Change,
): M {
  const contents = mapList(message.contents, (content) => {
    if (content === null || isMedia(content)) return content;
    if (content.type === "TEXT") return mapMember(content, "text", of, change);
    return mapUnknownPart<LangChain4jContent>(content, of, change, (text) => ({ type: "TEXT", text }));
  });
  return withMember(message, "contents", contents);
}
