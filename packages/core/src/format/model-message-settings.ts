import { isObject } from "../values.ts";
import type { ModelMessageLike } from "./model-message.ts";

/** What the AI SDK's options of a system message set for all that follows, for one provider. */
type ProviderSettings = readonly [
  provider: string,
  own: readonly (readonly [name: string, value: unknown])[],
];

type ToolChange = { readonly toolName?: unknown } | null | undefined;

/** `reasoningEffortUpdate` of `@ai-sdk/openai`; `effort` and `toolChanges` of `@ai-sdk/anthropic`. */
const settingNames = /(Update|^effort|^toolChanges)$/;

function settingsOf(message: ModelMessageLike): ProviderSettings[] {
  const { role, providerOptions } = message as { readonly role: string; readonly providerOptions?: unknown };
  if (role !== "system" || !isObject(providerOptions)) return [];
  return Object.entries(providerOptions).flatMap(([provider, options]): ProviderSettings[] => {
    const isGiven = ([name, value]: [string, unknown]): boolean =>
      settingNames.test(name) && (value ?? undefined) !== undefined;
    const own = isObject(options) ? Object.entries(options).filter(isGiven) : [];
    return own.length === 0 ? [] : [[provider, own]];
  });
}

/** Each tool is a setting of its own. */
function toolNames(changes: unknown): string[] {
  return Array.isArray(changes) ? changes.map((change) => String(change?.toolName)) : [""];
}

/** See `MessageFormat.sets`. */
export function sets(message: ModelMessageLike): readonly string[] {
  return settingsOf(message).flatMap(([provider, own]) =>
    own.flatMap(([name, value]) =>
      name === "toolChanges"
        ? toolNames(value).map((tool) => `${provider}.${name}.${tool}`)
        : [`${provider}.${name}`],
    ),
  );
}

/** See `MessageFormat.inForce`. One message can set all: the SDK takes such a message without text. */
export function inForce<M extends ModelMessageLike>(messages: readonly M[]): readonly M[] {
  const setting = messages.filter((message) => settingsOf(message).length > 0);
  const [only] = setting;
  if (only === undefined || (setting.length === 1 && only.content === "")) return setting;
  const net = new Map<string, Map<string, unknown>>();
  for (const [provider, own] of setting.flatMap(settingsOf)) {
    const names = net.get(provider) ?? new Map<string, unknown>();
    net.set(provider, names);
    for (const [name, value] of own) {
      if (name !== "toolChanges") names.set(name, value);
      else if (Array.isArray(value)) for (const change of value) changesIn(names).push(change);
    }
  }
  const options = [...net].map(([provider, names]) => {
    if (names.has("toolChanges")) names.set("toolChanges", lastOfEach(changesIn(names)));
    return [provider, Object.fromEntries(names)];
  });
  return [{ role: "system", content: "", providerOptions: Object.fromEntries(options) } as unknown as M];
}

/** A list of our own, to which more may be added. */
function changesIn(names: Map<string, unknown>): ToolChange[] {
  const changes = (names.get("toolChanges") ?? []) as ToolChange[];
  names.set("toolChanges", changes);
  return changes;
}

/** Of each tool, what became of it last. */
function lastOfEach(changes: readonly ToolChange[]): ToolChange[] {
  const last = new Map<unknown, ToolChange>();
  for (const change of changes) {
    last.delete(change?.toolName);
    last.set(change?.toolName, change);
  }
  return [...last.values()];
}
