import type { UIMessageLike } from "./messages.ts";
import { type AnyUIPart, isCall, isReasoning, partsOf } from "./parts.ts";

type Metadata = Record<string, { readonly itemId?: unknown } | null>;

/**
 * Of what OpenAI's Responses API put out, the SDK keeps the item's id. By it the API knows the reasoning that led to the
 * item, and refuses the one without the other. A copy that names no items, so that it can be sent without its reasoning;
 * the message itself if it has none. What the API ran itself goes back under its own id alone, and is left out.
 */
export function withoutReasoningItems<M extends UIMessageLike>(message: M): M {
  const parts = partsOf(message);
  if (!parts.some(isReasoning)) return message;
  const isBound = parts.some(isReasoningItem);
  const kept = parts.filter((part) => !(isBound && part.providerExecuted === true)).map(withoutItemId);
  return { ...message, parts: kept };
}

function isReasoningItem(part: AnyUIPart): boolean {
  return isReasoning(part) && Object.values((part.providerMetadata ?? {}) as Metadata).some(namesItem);
}

function withoutItemId(part: AnyUIPart): AnyUIPart {
  if (part.type !== "text" && !isCall(part)) return part;
  const name = part.type === "text" ? "providerMetadata" : "callProviderMetadata";
  const metadata = Object.entries((part[name] ?? {}) as Metadata);
  if (!metadata.some(([, own]) => namesItem(own))) return part;
  const unnamed = metadata.map(([provider, own]) => {
    const { itemId: _, ...rest } = own ?? {};
    return [provider, rest] as const;
  });
  return { ...part, [name]: Object.fromEntries(unnamed) };
}

function namesItem(own: Metadata[string] | undefined): boolean {
  return own?.itemId !== undefined;
}
