import { isObject } from "@turnkeep/core/format-kit";
import { type AnyBlock, blocksOf } from "./blocks.ts";
import type { AnthropicMessage } from "./messages.ts";

/** What became of one tool. */
interface ToolState {
  /** The addition that defines it; one that only names it needs a definition elsewhere. */
  definition?: AnyBlock | undefined;
  last: AnyBlock;
}

/** What the beta API lets a system message set: the effort, and which tools there are. */
function configOf(message: AnthropicMessage): readonly [name: string, value: unknown][] {
  const { role, output_config: config } = message as {
    readonly role: string;
    readonly output_config?: unknown;
  };
  if (role !== "system" || !isObject(config)) return [];
  return Object.entries(config).filter(([, value]) => (value ?? undefined) !== undefined);
}

function changesOf(message: AnthropicMessage): readonly AnyBlock[] {
  return message.role === "system" ? blocksOf(message).filter(isToolChange) : [];
}

function isToolChange({ type }: AnyBlock): boolean {
  return type === "tool_addition" || type === "tool_removal";
}

function isDefinition(change: AnyBlock): boolean {
  return change.type === "tool_addition" && toolOf(change).type === "tool_definition";
}

function toolOf(change: AnyBlock): Record<string, unknown> {
  return isObject(change.tool) ? change.tool : {};
}

/** The same for a tool's definition and for each reference to it. */
function keyOf(change: AnyBlock): string {
  const tool = toolOf(change);
  const { name, server_name: server } = isObject(tool.definition) ? tool.definition : tool;
  return [server, name].map((part) => (typeof part === "string" ? JSON.stringify(part) : "")).join();
}

/** See `MessageFormat.sets`. What takes a tool away does not take away its definition, to which others may refer. */
export function sets(message: AnthropicMessage): readonly string[] {
  const tools = changesOf(message).flatMap((change) => {
    const key = keyOf(change);
    return isDefinition(change) ? [`tool ${key}`, `definition ${key}`] : [`tool ${key}`];
  });
  return [...configOf(message).map(([name]) => `output_config.${name}`), ...tools];
}

/** See `MessageFormat.inForce`. */
export function inForce(messages: readonly AnthropicMessage[]): readonly AnthropicMessage[] {
  const setting = messages.filter((message) => sets(message).length > 0);
  const [only] = setting;
  if (only === undefined || (setting.length === 1 && saysNothing(only))) return setting;
  const config = Object.fromEntries(setting.flatMap(configOf));
  const content = netChanges(setting.flatMap(changesOf));
  const hasConfig = Object.keys(config).length > 0;
  if (!hasConfig && content.length === 0) return [];
  const message = { role: "system", content, ...(hasConfig ? { output_config: config } : {}) };
  return [message as unknown as AnthropicMessage];
}

function saysNothing(message: AnthropicMessage): boolean {
  return typeof message.content === "string" ? message.content === "" : blocksOf(message).every(isToolChange);
}

/** Of each tool the last change; nothing of one that was defined and taken away again. */
function netChanges(changes: readonly AnyBlock[]): readonly AnyBlock[] {
  const states = new Map<string, ToolState>();
  for (const change of changes) {
    const key = keyOf(change);
    const definition = isDefinition(change) ? change : states.get(key)?.definition;
    states.delete(key);
    states.set(key, { definition, last: change });
  }
  return [...states.values()].flatMap(({ definition, last }) => {
    if (definition === undefined) return [last];
    return last.type === "tool_removal" ? [] : [definition];
  });
}
