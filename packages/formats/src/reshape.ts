import { mapJsonText, type TextPlace } from "@turnkeep/core";
import { withMember } from "@turnkeep/core/format-kit";
import { asText } from "./as-text.ts";

/** What formats share in the methods that shape messages for providers and processors. */

export type Change = (text: string, of: TextPlace) => string;

interface Typed {
  readonly type: string;
}

export function isLeftOut(text: unknown, which: "empty" | "blank"): boolean {
  const shown = asText(text);
  return (which === "blank" ? shown.trim() : shown) === "";
}

/** Puts a value last among those under a key. */
export function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** The same list if every item stayed the same. */
export function mapList<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change);
  return changed.every((item, at) => item === list[at]) ? list : changed;
}

/** A copy whose member is what `change` returns for its text; anything but a string is passed and taken as JSON. */
export function mapMember<T extends object>(of: T, member: string, place: TextPlace, change: Change): T {
  return withMember(of, member, mapValue((of as Record<string, unknown>)[member], place, change));
}

/** A value after `change` changed its text; one that is no plain text, and must not become one, keeps its kind. */
export function mapValue(value: unknown, of: TextPlace, change: Change, keepsKind = false): unknown {
  if (value === null || value === undefined) return change("", of) || value;
  return mapJsonText(value, asText(value), (text) => change(text, of), keepsKind);
}

/** A provider's own tool output must go back as it came: JSON stays JSON, and encrypted content stays as it is. */
export function mapProviderValue(value: unknown, change: Change): unknown {
  return holdsEncrypted(value) ? value : mapValue(value, "tool-result", change, true);
}

function holdsEncrypted(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) => name.startsWith("encrypted") || holdsEncrypted(member),
  );
}

/** A part of an unknown type is passed and taken back as JSON; if that is no such part, `asPart` makes one. */
export function mapUnknownPart<T extends Typed>(
  part: T,
  of: TextPlace,
  change: Change,
  asPart: (text: string) => T,
): T {
  const changed = mapValue(part, of, change);
  if (changed === part) return part;
  return (changed as Partial<T> | null)?.type === part.type ? (changed as T) : asPart(asText(changed));
}
