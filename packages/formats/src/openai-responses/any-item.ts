import type { ResponsesItem } from "./items.ts";

/** An item, or a part of one, of any type, known or not; its members are what the application gave. */
export interface AnyItem {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** An item with its type: messages may go without, and so may references. */
export function itemOf(item: ResponsesItem): AnyItem {
  const members = item as unknown as AnyItem;
  return typeof members.type === "string"
    ? members
    : { ...members, type: typeof members.role === "string" ? "message" : "item_reference" };
}

/** The parts of a member that may hold a list of them. */
export function partsOf(content: unknown): readonly AnyItem[] {
  return Array.isArray(content) ? (content as readonly AnyItem[]) : [];
}
