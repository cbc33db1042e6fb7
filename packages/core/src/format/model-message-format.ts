import { TurnkeepError } from "../errors.ts";
import type { MessageFormat } from "../message-format.ts";
import { type AnyPart, isReasoning, partsOf } from "./any-part.ts";
import { modelMessageProblem } from "./check-model-message.ts";
import { derived } from "./derived.ts";
import { joinedParts } from "./joined-parts.ts";
import type { ModelMessage, ModelMessageLike } from "./model-message.ts";
import { inForce, sets } from "./model-message-settings.ts";
import { visitModelMessage } from "./visit-model-message.ts";
import { withMember } from "./visitor.ts";

/**
 * The default format: messages in the shape of the AI SDK's `ModelMessage`. Unknown parts are kept as they are.
 *
 * In an assistant message, two parts are a provider's compaction and thus a boundary: the custom part
 * `openai.compaction` that names its item (`@ai-sdk/openai` 4.0.118), and a non-empty text part with
 * `providerOptions.anthropic.type` of `"compaction"` (`@ai-sdk/anthropic` 3.0.141 and 4.0.105).
 *
 * @example
 * ```ts
 * import { modelMessageFormat, toolCall } from "@turnkeep/core";
 *
 * modelMessageFormat.toolCalls(toolCall("call-1", "weather", { city: "Oslo" })); // [{ id: "call-1", name: "weather" }]
 * ```
 */
export const modelMessageFormat: MessageFormat<ModelMessageLike> = withoutBinding(
  derived<ModelMessageLike>(visitModelMessage, {
    name: "model-message",
    version: 1,
    role: (message) => message.role,
    interruptedResults(calls, text) {
      if (calls.length === 0) return [];
      const content = calls.map((call) => ({
        type: "tool-result" as const,
        toolCallId: call.id,
        toolName: call.name,
        output: { type: "error-text" as const, value: text },
      }));
      return [{ role: "tool", content } satisfies ModelMessage];
    },
    textMessage: (role, text) => ({ role, content: text }),
    joined,
    sets,
    inForce,
    check(message) {
      const problem = modelMessageProblem(message);
      if (problem !== undefined) throw new TurnkeepError("INVALID_MESSAGE", problem);
    },
  }),
);

/** The same format, whose messages lose with their reasoning what binds them to it. */
/* @__NO_SIDE_EFFECTS__ */
function withoutBinding(format: MessageFormat<ModelMessageLike>): MessageFormat<ModelMessageLike> {
  return {
    ...format,
    without: (message, omission) =>
      format.without(omission.reasoning === true ? unbound(message) : message, omission),
  };
}

/** See `MessageFormat.joined`. Members other than the content must be equal if both messages have them. */
function joined(first: ModelMessageLike, second: ModelMessageLike): ModelMessageLike | undefined {
  if (first.role !== second.role || first.role === "system") return undefined;
  if (modelMessageFormat.isBoundary(first) || modelMessageFormat.isBoundary(second)) return undefined;
  return joinedParts(first, second, "content", contentParts);
}

function contentParts(message: ModelMessageLike): readonly AnyPart[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : partsOf(message);
}

interface WithItemId {
  readonly itemId?: unknown;
}

/**
 * The message without what binds it to its reasoning. The SDK keeps the id of each item that OpenAI's Responses API
 * produced; by that id the API finds the reasoning that led to the item, and it refuses the one without the other. Calls
 * that it ran itself go back by their id alone, so they cannot stay without their reasoning.
 */
function unbound(message: ModelMessageLike): ModelMessageLike {
  const parts = partsOf(message);
  if (!parts.some(isReasoning)) return message;
  const isItem = (part: AnyPart): boolean => isReasoning(part) && itemOptions(part).length > 0;
  const calls = parts.some(isItem)
    ? modelMessageFormat.toolCalls(message).filter((call) => call.providerExecuted === true)
    : [];
  const bound = new Set<unknown>(calls.map(({ id }) => id));
  const content = parts.filter((part) => !bound.has(part.toolCallId)).map(withoutItemId);
  return { ...message, content } as unknown as ModelMessageLike;
}

function withoutItemId(part: AnyPart): AnyPart {
  if ((part.type !== "text" && part.type !== "tool-call") || itemOptions(part).length === 0) return part;
  const options = Object.entries((part.providerOptions ?? {}) as Record<string, WithItemId | null>);
  const left = options.map(([provider, own]) => {
    const { itemId: _, ...rest } = own ?? {};
    return [provider, rest] as const;
  });
  return withMember(part, "providerOptions", Object.fromEntries(left));
}

/** The options of a part that name an item of the Responses API. */
function itemOptions(part: AnyPart): readonly (WithItemId | null)[] {
  const options = (part.providerOptions ?? {}) as Record<string, WithItemId | null>;
  return Object.values(options).filter((own) => own?.itemId !== undefined);
}
