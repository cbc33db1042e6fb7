import { equalContent } from "./equal-content.ts";

/**
 * Two messages as one: the parts of both in the list under `member`, and every other member of either. `undefined` if
 * the two disagree in a member of which a message can have only one. For `MessageFormat.joined`.
 *
 * @example
 * ```ts
 * import { joinedParts } from "@turnkeep/core/format-kit";
 *
 * const [first, second] = [{ role: "user", parts: ["Hello."] }, { role: "user", parts: ["Who are you?"] }];
 * joinedParts(first, second, "parts", ({ parts }) => parts); // { role: "user", parts: ["Hello.", "Who are you?"] }
 * ```
 */
export function joinedParts<M extends object>(
  first: M,
  second: M,
  member: string,
  partsOf: (message: M) => readonly unknown[],
): M | undefined {
  const members = joinedMembers(first, second, [member]);
  return members && ({ ...members, [member]: [...partsOf(first), ...partsOf(second)] } as M);
}

/**
 * The members of two messages besides those in `except`, if one message can hold them all: each is equal in both, or
 * absent in one. `undefined` if they disagree.
 */
export function joinedMembers(
  first: object,
  second: object,
  except: readonly string[],
): Record<string, unknown> | undefined {
  const members = new Map(membersOf(first, except));
  for (const [name, member] of membersOf(second, except)) {
    if (members.has(name) && !equalContent(members.get(name), member)) return undefined;
    members.set(name, member);
  }
  return Object.fromEntries(members);
}

function membersOf(message: object, except: readonly string[]): readonly (readonly [string, unknown])[] {
  return Object.entries(message).filter(([name, member]) => member !== undefined && !except.includes(name));
}
