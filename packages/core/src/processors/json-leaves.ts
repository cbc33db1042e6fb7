/** A string, whole: all between two quotes that are not escaped; or a number. Only for text that is JSON. */
const leaf: RegExp = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * A text that is the JSON of an object or a list, with each string in it (keys too) and each number changed by itself; a
 * number that changes becomes a string. Everything else stays as it was written. `undefined` for any other text.
 */
export function mapJsonLeaves(text: string, change: (text: string) => string): string | undefined {
  if (!isJson(text)) return undefined;
  return text.replace(leaf, (written) => {
    const before = written.startsWith('"') ? (JSON.parse(written) as string) : written;
    const after = change(before);
    return after === before ? written : JSON.stringify(after);
  });
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
