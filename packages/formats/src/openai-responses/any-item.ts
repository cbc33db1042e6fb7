import type { ResponsesItem } from "./items.ts";

/** An item, or a part of one, of any type, known or not; its members are what the application gave. */
export interface AnyItem {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The type of an item: messages may go without, and so may references. */
export function typeOf(item: ResponsesItem): string {
  const { type, role } = item as { readonly type?: unknown; readonly role?: unknown };
  if (typeof type === "string") return type;
  return typeof role === "string" ? "message" : "item_reference";
}

/** The parts of a member that may hold a list of them. */
export function partsOf(content: unknown): readonly AnyItem[] {
  return Array.isArray(content) ? (content as readonly AnyItem[]) : [];
}
