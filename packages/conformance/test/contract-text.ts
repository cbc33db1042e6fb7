/** What the comments of a source file say, and its code, on one line. */
export function onOneLine(source: string): string {
  return source
    .replace(/^\s*(\/\*\*|\*\/|\*( -)?)/gm, "")
    .replace(/\*\/\s*$/gm, "")
    .replace(/\s+/g, " ");
}
