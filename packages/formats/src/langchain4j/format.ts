import { equalContent, type MessageFormat, type Role } from "@turnkeep/core";
import { checkedCodec } from "@turnkeep/core/format-kit";
import { interruptedResults, toolCallRefs, toolResultRefs } from "./calls.ts";
import { checkMessage } from "./check.ts";
import { defaultsOf, withDefaults } from "./defaults.ts";
import { mapText } from "./map-text.ts";
import type { LangChain4jMessage } from "./messages.ts";
import { piecesOf } from "./pieces.ts";
import { joined, renameCalls, renameTools, textMessage, withoutEmptyText } from "./reshape.ts";
import { hasReasoning, isEmptyMessage, withoutParts } from "./without.ts";

const name = "langchain4j";
const version = 1;

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
export const langchain4jFormat: MessageFormat<LangChain4jMessage> = {
  name,
  version,
  role: (message) => roleOf[message.type],
  toolCalls: toolCallRefs,
  toolResults: toolResultRefs,
  approvals: () => [],
  hasReasoning,
  isBoundary: () => false,
  isEmpty: isEmptyMessage,
  pieces: piecesOf,
  without: withoutParts,
  interruptedResults,
  textMessage,
  renameCalls,
  renameTools,
  joined,
  withoutEmptyText,
  mapText,
  equals: (a, b) => equalContent(filled(a), filled(b)),
  ...checkedCodec<LangChain4jMessage>(name, version, (message) => checkMessage(message)),
};

/** To LangChain4j, no calls and no attributes are the same as empty ones. */
function filled(message: LangChain4jMessage): object {
  return withDefaults(defaultsOf(message), message);
}
