/** Values as Java reads and writes them. */

/** Java's `String.trim`: cuts everything up to U+0020 at both ends. */
export function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text.charCodeAt(start) <= 0x20) start += 1;
  while (start < end && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  return text.slice(start, end);
}

/** A double in Java's notation: `2.0`, `1.0E21`, `1.0E-7`; what is no finite number is a text. */
export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`;
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-3 && size < 1e7)) {
    const text = String(value);
    return text.includes(".") ? text : `${text}.0`;
  }
  // Java shows two digits at least, and takes the closest ones.
  const two = value.toExponential(1);
  const [digits = "", exponent = ""] = (Number(two) === value ? two : value.toExponential()).split("e");
  return `${digits}E${Number(exponent)}`;
}

const unreserved = "A-Za-z0-9_.!~*'()%\\u{80}-\\u{10ffff}\\-";
const notInPath = new RegExp(`[^${unreserved}:@&=+$,;/]`, "u");
const notInRest = new RegExp(`[^${unreserved}:@&=+$,;/?\\[\\]]`, "u");
const notInAuthority = new RegExp(`[^${unreserved}:@&=+$,;]`, "u");
const address = /^(?:[^[\]]*@)?\[[0-9A-Fa-f:.]+\](?::[0-9]*)?$/;

/** Whether `java.net.URI` takes a text: RFC 2396, with characters beyond ASCII. */
export function isJavaUri(text: string): boolean {
  if (/[\p{Z}\p{Cc}]|%(?![0-9A-Fa-f]{2})/u.test(text)) return false;
  const [rest, fragment] = cut(text, "#");
  if (fragment !== undefined && notInRest.test(fragment)) return false;
  const end = rest.search(/[:/?]/);
  if (rest[end] !== ":") return isHierarchical(rest, fragment !== undefined);
  if (!/^[A-Za-z][A-Za-z0-9+.-]*$/.test(rest.slice(0, end))) return false;
  const specific = rest.slice(end + 1);
  if (specific.startsWith("/")) return isHierarchical(specific, fragment !== undefined);
  return specific !== "" && !notInRest.test(specific);
}

function isHierarchical(text: string, hasFragment: boolean): boolean {
  const [front, query] = cut(text, "?");
  if (query !== undefined && notInRest.test(query)) return false;
  if (!front.startsWith("//")) return !notInPath.test(front);
  const [authority, path] = cut(front.slice(2), "/");
  if (path !== undefined && notInPath.test(path)) return false;
  if (authority === "") return path !== undefined || query !== undefined || hasFragment;
  return !notInAuthority.test(authority) || address.test(authority);
}

function cut(text: string, at: string): readonly [string, string | undefined] {
  const index = text.indexOf(at);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}

/** Canonical base64 of what Java's bytes are read from, with blanks between groups of four; `undefined` for anything else. */
export function canonicalBase64(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the blanks that are skipped
  const groups = text.split(/[\u0000-\u0020]+/);
  if (groups.some((group) => group.length % 4 !== 0)) return undefined;
  try {
    return btoa(atob(groups.join("")));
  } catch {
    return undefined;
  }
}
