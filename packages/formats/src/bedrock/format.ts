import type { MessageFormat, Role, ToolCallRef } from "@turnkeep/core";
import { derived, joinedParts } from "@turnkeep/core/format-kit";
import { withResultsFirst } from "../results-first.ts";
import { blocksOf, isResult } from "./blocks.ts";
import { checkMessage } from "./check.ts";
import type { BedrockContentBlock, BedrockMessage } from "./messages.ts";
import { visitMessage } from "./visit.ts";

/**
 * The messages of Amazon Bedrock's Converse API, kept as they are: pass to `add` what `ConverseCommand` takes as `messages`,
 * and `output.message` of its response. Bytes and signatures survive. A user message that holds only `toolResult` blocks
 * counts as a tool message. The system prompt is a message of role `system`, which `prompt()` returns apart. Calls that the
 * API runs itself (`server_tool_use`) need no result of yours. Unknown members and blocks are kept.
 *
 * Its `encode` throws `INVALID_MESSAGE` for an unknown role, content that is no list of blocks, a medium without a source, a
 * call without id or name and a result without the id of its call.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { bedrockFormat } from "@turnkeep/formats/bedrock";
 * import { bedrock } from "@turnkeep/formats/profiles";
 *
 * const memory = createChatMemory({ format: bedrockFormat, profile: bedrock, window: { maxMessages: 40, unit: "turn" } });
 * await memory.add({ role: "system", content: [{ text: "Be brief." }] }, { role: "user", content: [{ text: "Hello" }] });
 * const { system, messages } = await memory.prompt();
 * ```
 */
export const bedrockFormat: MessageFormat<BedrockMessage> = derived(visitMessage, {
  name: "bedrock-converse",
  version: 1,
  role,
  interruptedResults,
  textMessage: (role, text) => ({ role, content: [{ text }] }),
  joined,
  resultsFirst,
  check: checkMessage,
});

/**
 * A user message that holds nothing but results is a tool message. One that holds anything else too is what the user
 * said: it stays a user message, and its results still join the step of their calls.
 */
function role(message: BedrockMessage): Role {
  if (message.role !== "user") return message.role as Role;
  const blocks = blocksOf(message);
  const isOfResults =
    blocks.some(isResult) && blocks.every((block) => isResult(block) || "cachePoint" in block);
  return isOfResults ? "tool" : "user";
}

/** One message for all calls: the API wants every result in the message that follows the calls. */
function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly BedrockMessage[] {
  if (calls.length === 0) return [];
  const content = calls.map(
    ({ id }): BedrockContentBlock => ({
      toolResult: { toolUseId: id, content: [{ text }], status: "error" },
    }),
  );
  return [{ role: "user", content }];
}

/** The API wants results before anything else of a message. */
function joined(first: BedrockMessage, second: BedrockMessage): BedrockMessage | undefined {
  if (first.role !== second.role || first.role === "system") return undefined;
  const both = joinedParts(first, second, "content", blocksOf);
  return both && resultsFirst(both);
}

function resultsFirst(message: BedrockMessage): BedrockMessage {
  return message.role === "user"
    ? withResultsFirst(message, "content", blocksOf(message), isResult)
    : message;
}
