import type { TextPlace } from "@turnkeep/core";
import type { Visitor } from "@turnkeep/core/format-kit";

/**
 * A part of an unknown type, read as JSON, that stays an object whatever becomes of its texts. The members named by
 * `identity` stay as they are: by them it is found and told from others.
 */
export function visitUnknownPart<P extends object>(
  part: P,
  of: TextPlace,
  identity: readonly string[],
  at: Visitor,
): P {
  const { part: changed } = at.text({ part }, "part", of, "json");
  if (changed === part) return part;
  const members = part as Readonly<Record<string, unknown>>;
  const kept = identity.filter((name) => Object.hasOwn(part, name)).map((name) => [name, members[name]]);
  return { ...changed, ...Object.fromEntries(kept) };
}
