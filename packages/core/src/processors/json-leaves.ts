import { parsedJson } from "../parsed-json.ts";

/** Matches the start of a string, or a whole number. Only valid for text that is JSON. */
const leaf: RegExp = /"|-?\d[\d.eE+-]*/g;
const [quote, backslash] = [0x22, 0x5c];

/**
 * Changes each string (keys too) and each number in the JSON of an object or a list; a number that changes becomes a
 * string. Everything else stays as it was written. `undefined` for any other text.
 */
export function mapJsonLeaves(text: string, change: (text: string) => string): string | undefined {
  if (!/^\s*[[{]/.test(text) || parsedJson(text) === undefined) return undefined;
  const pieces: string[] = [];
  let end = 0;
  leaf.lastIndex = 0;
  for (let found = leaf.exec(text); found !== null; found = leaf.exec(text)) {
    const isString = found[0] === '"';
    pieces.push(text.slice(end, found.index));
    end = isString ? endOfString(text, found.index) : leaf.lastIndex;
    const written = text.slice(found.index, end);
    const before = isString ? (JSON.parse(written) as string) : written;
    const after = change(before);
    pieces.push(after === before ? written : JSON.stringify(after));
    leaf.lastIndex = end;
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
