import { parsedJson } from "../parsed-json.ts";

/** The start of a string, a number or another value as a whole, or where an object begins or ends: in text that is JSON. */
const token: RegExp = /"|-?\d[\d.eE+-]*|true|false|null|[{}]/g;
const [quote, backslash] = [0x22, 0x5c];

/**
 * Changes each string (keys too) and each number in the JSON of an object or a list; a number that changes becomes a
 * string. Everything else stays as it was written. `undefined` for any other text.
 */
export function mapJsonLeaves(text: string, change: (text: string) => string): string | undefined {
  if (jsonKind(text) === undefined) return undefined;
  return mapTokens(text, (written) => {
    if (!/^["\d-]/.test(written)) return written;
    const before = leafOf(written);
    const after = change(before);
    return after === before ? written : JSON.stringify(after);
  });
}

/** What the text is in JSON, where that has members; `undefined` for any other text. */
export function jsonKind(text: string): "object" | "list" | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const value = parsedJson(text);
  if (value === undefined) return undefined;
  return Array.isArray(value) ? "list" : "object";
}

/** The JSON with the replacement in place of each key and value that a match touches, as a whole: it stays JSON. */
export function coverJsonLeaves(text: string, expression: RegExp, replacement: string): string {
  const matches = text.matchAll(expression);
  let match = matches.next().value;
  return mapTokens(text, (written, from) => {
    while (match !== undefined && match.index + match[0].length <= from) match = matches.next().value;
    const isTouched = match !== undefined && match.index < from + written.length;
    return isTouched && !/^[{}]/.test(written) ? JSON.stringify(replacement) : written;
  });
}

/** The JSON with a number behind each key that its object has already, so that no member is lost. */
export function withDistinctKeys(text: string): string {
  /** The last number of each key, for each object that is open. */
  const open: Map<string, number>[] = [];
  return mapTokens(text, (written, from) => {
    if (written === "{") open.push(new Map());
    else if (written === "}") open.pop();
    else if (isKey(text, from + written.length)) {
      const keys = open.at(-1) as Map<string, number>;
      const key = leafOf(written);
      let count = keys.get(key);
      if (count !== undefined) {
        do count++;
        while (keys.has(numbered(key, count)));
        keys.set(key, count).set(numbered(key, count), 1);
        return JSON.stringify(numbered(key, count));
      }
      keys.set(key, 1);
    }
    return written;
  });
}

const numbered = (key: string, count: number): string => `${key} (${count})`;

function isKey(text: string, end: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = end;
  return colon.test(text);
}

function leafOf(written: string): string {
  return written.startsWith('"') ? (JSON.parse(written) as string) : written;
}

function mapTokens(text: string, write: (written: string, from: number) => string): string {
  const pieces: string[] = [];
  let end = 0;
  token.lastIndex = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    pieces.push(text.slice(end, found.index));
    end = found[0] === '"' ? endOfString(text, found.index) : token.lastIndex;
    pieces.push(write(text.slice(found.index, end), found.index));
    token.lastIndex = end;
  }
  return pieces.join("") + text.slice(end);
}

/** After the closing quote that is not escaped. A regular expression for this fails at millions of escapes. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  for (let unit = text.charCodeAt(at); unit !== quote; unit = text.charCodeAt(at)) {
    at += unit === backslash ? 2 : 1;
  }
  return at + 1;
}
