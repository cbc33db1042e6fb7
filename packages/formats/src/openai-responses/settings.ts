import { isObject } from "@turnkeep/core/format-kit";
import { type AnyItem, partsOf } from "./any-item.ts";
import type { ResponsesItem } from "./items.ts";

/** The members of a `configuration_update` that set something. */
const members = ["reasoning", "text"] as const;

const updateType = "configuration_update";
const toolsType = "additional_tools";

/** See `MessageFormat.sets`. */
export function sets(message: ResponsesItem): readonly string[] {
  const item = message as unknown as AnyItem;
  if (item.type === toolsType) return partsOf(item.tools).map(keyOf);
  if (item.type !== updateType) return [];
  return members.flatMap((member) => namesIn(item[member]).map((name) => `${member}.${name}`));
}

function namesIn(value: unknown): string[] {
  return isObject(value) ? Object.keys(value).filter((name) => value[name] !== undefined) : [];
}

/** A tool that has no name is the only one of its type. */
function keyOf(tool: AnyItem): string {
  const { type, name, server_label: label } = isObject(tool) ? tool : ({} as Partial<AnyItem>);
  return `tool ${[type, name ?? label].map((part) => (typeof part === "string" ? JSON.stringify(part) : "")).join()}`;
}

/** See `MessageFormat.inForce`. The API refuses two updates in a row, and takes tools in an item of their own. */
export function inForce(messages: readonly ResponsesItem[]): readonly ResponsesItem[] {
  const items = messages.filter((message) => sets(message).length > 0) as unknown as AnyItem[];
  const tools = asOne(
    items.filter(({ type }) => type === toolsType),
    joinedTools,
  );
  const updates = asOne(
    items.filter(({ type }) => type === updateType),
    joinedUpdates,
  );
  return [...tools, ...updates] as unknown as ResponsesItem[];
}

function asOne(items: readonly AnyItem[], join: (items: readonly AnyItem[]) => AnyItem): readonly AnyItem[] {
  return items.length < 2 ? items : [join(items)];
}

function joinedTools(items: readonly AnyItem[]): AnyItem {
  const tools = new Map(items.flatMap((item) => partsOf(item.tools)).map((tool) => [keyOf(tool), tool]));
  return { type: toolsType, role: "developer", tools: [...tools.values()] };
}

function joinedUpdates(items: readonly AnyItem[]): AnyItem {
  const joined: Record<string, unknown> = {};
  for (const item of items) {
    for (const member of members) {
      const own = item[member];
      if (isObject(own)) joined[member] = { ...(joined[member] as object | undefined), ...own };
    }
  }
  return { type: updateType, ...joined };
}
