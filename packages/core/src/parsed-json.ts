/** The value of JSON text; else `undefined`. Never throws, since the parser's error would quote private text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
