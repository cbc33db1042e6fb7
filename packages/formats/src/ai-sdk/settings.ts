import { type ModelMessageLike, modelMessageFormat } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import type { UIMessageLike } from "./messages.ts";
import { type AnyUIPart, partsOf } from "./parts.ts";

/** What the SDK makes of a system message: the options of its texts set what a provider takes. */
function asModelMessage(message: UIMessageLike): ModelMessageLike {
  const texts = partsOf(message).filter(({ type }) => type === "text");
  const options = texts.map(({ providerMetadata }) => (isObject(providerMetadata) ? providerMetadata : {}));
  const content = texts.map(({ text }) => String(text)).join("");
  return { role: "system", content, providerOptions: Object.assign({}, ...options) } as ModelMessageLike;
}

/** See `MessageFormat.sets`. */
export function sets(message: UIMessageLike): readonly string[] {
  return message.role === "system" ? (modelMessageFormat.sets?.(asModelMessage(message)) ?? []) : [];
}

/** See `MessageFormat.inForce`. */
export function inForce<M extends UIMessageLike>(messages: readonly M[]): readonly M[] {
  const setting = messages.filter((message) => sets(message).length > 0);
  const [only] = setting;
  if (only === undefined || (setting.length === 1 && asModelMessage(only).content === "")) return setting;
  const net = modelMessageFormat.inForce?.(setting.map(asModelMessage)) ?? [];
  return net.map((message) => {
    const { providerOptions: providerMetadata } = message as { readonly providerOptions?: unknown };
    const parts = [{ type: "text", text: "", providerMetadata } as AnyUIPart];
    return { id: "", role: "system", parts } as unknown as M;
  });
}
