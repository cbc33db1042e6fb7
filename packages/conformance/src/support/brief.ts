const longest = 200;

/** A value in at most some 200 characters, everything but printable ASCII escaped, so that look-alikes show. */
export function brief(value: unknown): string {
  return cut(write(value, 0), longest);
}

/** The first `length` characters of a text, and how many there were. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters)`;
}

function write(value: unknown, depth: number): string {
  if (typeof value === "string") return quote(value.slice(0, 60)) + rest(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
  if (value instanceof Error) return `${value.name} (${cut(value.message, 100)})`;
  if (depth === 3) return "…";
  if (Array.isArray(value)) {
    const shown = value.slice(0, 12).map((item) => write(item, depth + 1));
    if (value.length > 12) shown.push(`… ${value.length} in all`);
    return `[${shown.join(", ")}]`;
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${name}: ${write(member, depth + 1)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** A text in quotes, everything but printable ASCII escaped. */
export function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function rest(text: string): string {
  return text.length > 60 ? `… (${text.length} characters)` : "";
}

/** The first difference of two plain values, in words; `undefined`: none. */
export function difference(seen: unknown, expected: unknown): string | undefined {
  if (typeof seen === "string" && typeof expected === "string" && seen !== expected) {
    return textDifference(seen, expected);
  }
  if (same(seen, expected)) return undefined;
  const lists = Array.isArray(seen) && Array.isArray(expected) ? listDifference(seen, expected) : undefined;
  return lists ?? `expected ${brief(expected)}, saw ${brief(seen)}`;
}

/** Of two lists that are too long to be shown, what only one of them holds; `undefined`: they can be shown. */
function listDifference(seen: readonly unknown[], expected: readonly unknown[]): string | undefined {
  const [left, right] = [seen, expected].map((list) => list.map((item) => write(item, 1))) as [
    string[],
    string[],
  ];
  if (Math.max(left.join(", ").length, right.join(", ").length) < longest) return undefined;
  const [had, wanted] = [new Set(left), new Set(right)];
  const missing = expected.filter((_, index) => !had.has(right[index] ?? ""));
  const besides = seen.filter((_, index) => !wanted.has(left[index] ?? ""));
  const parts = [
    missing.length > 0 ? `missing ${brief(missing)}` : [],
    besides.length > 0 ? `not expected ${brief(besides)}` : [],
    missing.length + besides.length === 0 ? `in order ${brief(seen)}, not ${brief(expected)}` : [],
  ];
  return `expected ${expected.length} items, saw ${seen.length}: ${parts.flat().join(", ")}`;
}

function textDifference(seen: string, expected: string): string {
  if (seen.length <= 60 && expected.length <= 60) return `expected ${quote(expected)}, saw ${quote(seen)}`;
  let index = 0;
  while (seen[index] === expected[index]) index++;
  const around = (text: string) => quote(text.slice(index, index + 30));
  return (
    `differs from character ${index} on: expected ${around(expected)} (${expected.length} characters in all), ` +
    `saw ${around(seen)} (${seen.length} in all)`
  );
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => same(item, b[index]));
  }
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) =>
    same((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  );
}
