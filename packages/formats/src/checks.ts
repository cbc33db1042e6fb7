import { invalidMessage, isObject } from "@turnkeep/core/format-kit";
import { kindOf, quoted } from "@turnkeep/core/store-kit";

/** Refuses what is no text. */
export function checkText(value: unknown, path: string): void {
  if (typeof value !== "string") throw invalidMessage(`has ${kindOf(value)} as ${path}`, "Give a string.");
}

/** Refuses another role. It is shown only if it looks like one: any other text may be content in the wrong place. */
export function checkRole(role: unknown, roles: readonly unknown[]): void {
  if (roles.includes(role)) return;
  const isName = typeof role === "string" && /^[a-z_-]{1,20}$/i.test(role);
  const what = isName ? `has the role ${quoted(role)}` : `has ${kindOf(role)} as role`;
  throw invalidMessage(what, `Use one of: ${roles.join(", ")}.`);
}

/** Refuses what is no text of at least one character; `what` says what belongs there. */
export function checkName(value: unknown, path: string, what: string): void {
  if (typeof value !== "string" || value === "") {
    throw invalidMessage(
      `has ${value === "" ? "an empty string" : kindOf(value)} as ${path}`,
      `Give ${what}.`,
    );
  }
}

/** Refuses what is no list of objects with a type, or holds a part that `checkPart` refuses. */
export function checkParts(
  parts: unknown,
  path: string,
  checkPart: (part: Record<string, unknown>, path: string) => void = () => undefined,
): void {
  if (!Array.isArray(parts)) throw invalidMessage(`has ${kindOf(parts)} as ${path}`, "Give a list.");
  parts.forEach((part: unknown, at) => {
    if (!isObject(part) || typeof part.type !== "string") {
      throw invalidMessage(`has a part without a type as ${path}[${at}]`, "Give an object with a type.");
    }
    checkPart(part, `${path}[${at}]`);
  });
}
