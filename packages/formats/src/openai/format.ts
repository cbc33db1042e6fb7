import { equalContent, type MessageFormat, type Role } from "@turnkeep/core";
import { checkedCodec } from "@turnkeep/core/format-kit";
import { interruptedResults, toolCallRefs, toolResultRefs } from "./calls.ts";
import { checkMessage } from "./check.ts";
import { mapText } from "./map-text.ts";
import type { ChatMessage } from "./messages.ts";
import { piecesOf } from "./pieces.ts";
import { reasoningOf } from "./reasoning.ts";
import { joined, renameCalls, renameTools, withoutEmptyText } from "./reshape.ts";
import { isEmptyMessage, withoutParts } from "./without.ts";

const name = "openai-chat";
const version = 1;

const roleOf: Readonly<Record<ChatMessage["role"], Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

/**
 * The messages of OpenAI's Chat Completions API, kept as they are: pass to `add` what `client.chat.completions.create({
 * messages })` takes, and `choices[0].message` of its response. `developer` messages count as system messages. The
 * older `function_call` and `function` messages are understood; members and content parts that the API's types do not
 * name are kept.
 *
 * Its `encode` throws `INVALID_MESSAGE` for an unknown role, content that is neither text nor a list of typed parts, a
 * tool call without an id and a result without the id of its call.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { openaiFormat } from "@turnkeep/formats/openai";
 *
 * const memory = createChatMemory({ format: openaiFormat, window: { maxMessages: 40 } });
 * await memory.add({ role: "user", content: "Hello" });
 * ```
 */
export const openaiFormat: MessageFormat<ChatMessage> = {
  name,
  version,
  role: (message) => roleOf[message.role],
  toolCalls: toolCallRefs,
  toolResults: toolResultRefs,
  approvals: () => [],
  hasReasoning: (message) => reasoningOf(message).length > 0,
  isBoundary: () => false,
  isEmpty: isEmptyMessage,
  pieces: piecesOf,
  without: withoutParts,
  interruptedResults,
  textMessage: (role, text) => ({ role, content: text }),
  renameCalls,
  renameTools,
  joined,
  withoutEmptyText,
  mapText,
  equals: equalContent,
  ...checkedCodec<ChatMessage>(name, version, checkMessage),
};
