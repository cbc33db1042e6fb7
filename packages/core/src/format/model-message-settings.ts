import { isObject } from "../values.ts";
import type { ModelMessageLike } from "./model-message.ts";

/** What the AI SDK's options of a system message set for all that follows, for one provider. */
type ProviderSettings = readonly [
  provider: string,
  own: readonly (readonly [name: string, value: unknown])[],
];

type ListedTool = { readonly [member: string]: unknown } | null | undefined;

/** Lists of tools, each of which is a setting of its own, with what tells one: of `@ai-sdk/anthropic` and `@ai-sdk/openai`. */
const toolLists: ReadonlyMap<string, (tool: ListedTool) => string> = new Map([
  ["toolChanges", (change: ListedTool) => String(change?.toolName)],
  ["additionalTools", (tool: ListedTool) => `${tool?.type}.${tool?.name ?? tool?.server_label ?? ""}`],
]);

/** `reasoningEffortUpdate` of `@ai-sdk/openai`, `effort` of `@ai-sdk/anthropic`. */
const settingNames = /(Update|^effort)$/;

function settingsOf(message: ModelMessageLike): ProviderSettings[] {
  const { role, providerOptions } = message as { readonly role: string; readonly providerOptions?: unknown };
  if (role !== "system" || !isObject(providerOptions)) return [];
  return Object.entries(providerOptions).flatMap(([provider, options]): ProviderSettings[] => {
    const isGiven = ([name, value]: [string, unknown]): boolean =>
      (settingNames.test(name) || toolLists.has(name)) && (value ?? undefined) !== undefined;
    const own = isObject(options) ? Object.entries(options).filter(isGiven) : [];
    return own.length === 0 ? [] : [[provider, own]];
  });
}

/** See `MessageFormat.sets`. */
export function sets(message: ModelMessageLike): readonly string[] {
  return settingsOf(message).flatMap(([provider, own]) =>
    own.flatMap(([name, value]) => {
      const nameOf = toolLists.get(name);
      if (nameOf === undefined) return [`${provider}.${name}`];
      const tools = Array.isArray(value) ? value.map(nameOf) : [""];
      return tools.map((tool) => `${provider}.${name}.${tool}`);
    }),
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
      const nameOf = toolLists.get(name);
      if (nameOf === undefined) names.set(name, value);
      else if (Array.isArray(value))
        for (const tool of value) putLast(listIn(names, name), nameOf(tool), tool);
    }
  }
  const options = [...net].map(([provider, names]) => {
    const asList = (value: unknown): unknown => (value instanceof Map ? [...value.values()] : value);
    return [provider, Object.fromEntries([...names].map(([name, value]) => [name, asList(value)]))];
  });
  return [{ role: "system", content: "", providerOptions: Object.fromEntries(options) } as unknown as M];
}

function putLast<T>(list: Map<string, T>, key: string, value: T): void {
  list.delete(key);
  list.set(key, value);
}

/** Of each tool of a list, what became of it last. */
function listIn(names: Map<string, unknown>, name: string): Map<string, ListedTool> {
  const last = (names.get(name) ?? new Map()) as Map<string, ListedTool>;
  names.set(name, last);
  return last;
}
