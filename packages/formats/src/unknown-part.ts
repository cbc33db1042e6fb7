import type { TextPlace } from "@turnkeep/core";
import { asText, isObject, type Visitor } from "@turnkeep/core/format-kit";

/**
 * A part of an unknown type, read as JSON, that stays an object whatever becomes of its texts: what is no JSON of one any
 * more is the part's `text`. The members named by `identity` stay as they are: by them it is found and told from others.
 */
export function visitUnknownPart<P extends object>(
  part: P,
  of: TextPlace,
  identity: readonly string[],
  at: Visitor,
): P {
  const { part: changed }: { part: unknown } = at.text(
    { part },
    "part",
    of,
    of === "tool-call" ? "json" : "text",
  );
  if (changed === part) return part;
  const members = part as Readonly<Record<string, unknown>>;
  const kept = identity.filter((name) => Object.hasOwn(part, name)).map((name) => [name, members[name]]);
  const shown = isObject(changed) ? changed : { text: asText(changed) };
  return { ...shown, ...Object.fromEntries(kept) } as P;
}
