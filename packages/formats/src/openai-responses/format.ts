import { equalContent, type MessageFormat } from "@turnkeep/core";
import { checkedCodec } from "@turnkeep/core/format-kit";
import { itemOf } from "./any-item.ts";
import { approvalRefs, roleOf, toolCallRefs, toolResultRefs } from "./calls.ts";
import { checkItem } from "./check.ts";
import { interruptedResults } from "./interrupted.ts";
import type { ResponsesItem } from "./items.ts";
import { mapText } from "./map-text.ts";
import { piecesOf } from "./pieces.ts";
import { renameCalls, renameTools, withoutEmptyText } from "./reshape.ts";
import { isEmptyItem, withoutParts } from "./without.ts";

const name = "openai-responses";
const version = 1;

/**
 * The items of OpenAI's Responses API, kept as they are: pass to `add` what `client.responses.create({ input })` takes,
 * and each item of the `output` that it returns. `developer` messages count as system messages. Calls that the API runs
 * itself need no result of yours; approvals that an MCP server's call waits for are understood. Items, parts and
 * members that the API's types do not name are kept.
 *
 * Its `encode` throws `INVALID_MESSAGE` for anything but an item, a whole response, an unknown role, content that is
 * neither text nor a list of typed parts, a call without its `call_id` and a result without that of its call.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { openaiResponsesFormat } from "@turnkeep/formats/openai-responses";
 *
 * const memory = createChatMemory({ format: openaiResponsesFormat, window: { maxMessages: 40 } });
 * await memory.add({ role: "user", content: "Hello" });
 * ```
 */
export const openaiResponsesFormat: MessageFormat<ResponsesItem> = {
  name,
  version,
  answersInParts: true,
  role: roleOf,
  toolCalls: toolCallRefs,
  toolResults: toolResultRefs,
  approvals: approvalRefs,
  hasReasoning: (item) => itemOf(item).type === "reasoning",
  isBoundary: (item) => itemOf(item).type === "compaction",
  isEmpty: isEmptyItem,
  pieces: piecesOf,
  without: withoutParts,
  interruptedResults,
  textMessage: (role, text) => ({ role, content: text }),
  renameCalls,
  renameTools,
  // Items are never joined: the API takes any number of messages of one role.
  joined: () => undefined,
  withoutEmptyText,
  mapText,
  equals: equalContent,
  ...checkedCodec<ResponsesItem>(name, version, checkItem),
};
