/** The value of JSON text; `undefined` for any other. No error comes of it: the parser's would quote the text, which is private. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
