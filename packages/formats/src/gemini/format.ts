import type { MessageFormat, Role, ToolCallRef } from "@turnkeep/core";
import { derived, joinedParts } from "@turnkeep/core/format-kit";
import { idByName } from "../id-by-name.ts";
import { withResultsFirst } from "../results-first.ts";
import { checkContent } from "./check.ts";
import type { GeminiContent } from "./messages.ts";
import { isResult, partsOf } from "./parts.ts";
import { visitContent } from "./visit.ts";

/**
 * The contents of Google's Gen AI SDK, kept as they are: pass to `add` what `ai.models.generateContent({ contents })` takes
 * as `Content`, and `candidates[0].content` of its response. A user's content that holds only function responses counts as a
 * tool message. The system instruction is a content of role `system`, which `prompt()` returns apart. Function calls need no
 * id: without one, the first response of a name answers the first call of it. What the API runs itself (`executableCode`,
 * `toolCall`) needs no response of yours. Members in the spelling of the REST documents (`function_call`) are understood;
 * unknown members and parts are kept.
 *
 * Its `encode` throws `INVALID_MESSAGE` for an unknown role, a content without parts that is no answer of the model, a part
 * that is no object, and a call or response without the function's name.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { geminiFormat } from "@turnkeep/formats/gemini";
 * import { gemini } from "@turnkeep/formats/profiles";
 *
 * const memory = createChatMemory({ format: geminiFormat, profile: gemini, window: { maxMessages: 40, unit: "turn" } });
 * await memory.add({ role: "system", parts: [{ text: "Be brief." }] }, { role: "user", parts: [{ text: "Hello" }] });
 * const { system, messages } = await memory.prompt(); // systemInstruction and contents
 * ```
 */
export const geminiFormat: MessageFormat<GeminiContent> = derived(visitContent, {
  name: "gemini-contents",
  version: 1,
  role,
  interruptedResults,
  textMessage: (role, text) => ({ role: role === "user" ? "user" : "model", parts: [{ text }] }),
  joined,
  resultsFirst,
  check: checkContent,
});

/** A content of the user's that holds nothing but responses is a tool message. `function` is what it was called once. */
function role(content: GeminiContent): Role {
  if (content.role === "system") return "system";
  if (content.role === "model") return "assistant";
  const parts = partsOf(content);
  return content.role === "function" || (parts.length > 0 && parts.every(isResult)) ? "tool" : "user";
}

/** One content for all calls: the API wants as many responses in it as there are calls. */
function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly GeminiContent[] {
  if (calls.length === 0) return [];
  const parts = calls.map(({ id, name }) => ({
    functionResponse: { ...(id === idByName(name) ? {} : { id }), name, response: { error: text } },
  }));
  return [{ role: "user", parts }];
}

/** The API wants responses before anything else of a content. */
function joined(first: GeminiContent, second: GeminiContent): GeminiContent | undefined {
  if ((first.role ?? "user") !== (second.role ?? "user") || first.role === "system") return undefined;
  const both = joinedParts(first, second, "parts", partsOf);
  return both && resultsFirst(both);
}

function resultsFirst(content: GeminiContent): GeminiContent {
  return content.role === "model" ? content : withResultsFirst(content, "parts", partsOf(content), isResult);
}
