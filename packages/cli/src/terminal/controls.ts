/**
 * What a terminal obeys (C0, C1, delete), what turns or hides a part of a line (bidirectional controls, the deprecated
 * format characters, marks of annotations and of byte order), and what others than terminals take for a line's end.
 */
const controls = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u206a-\u206f\ufeff\ufff9-\ufffb]/gu;

/** In one line, without what could move the cursor, colour the terminal or turn the line's direction. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{White_Space}]+/gu, " ")
    .replace(controls, "")
    .trim();
}

/** A value as one line of JSON: programs read what it was, and a terminal obeys nothing of it. */
export function jsonLine(value: unknown): string {
  const escaped = (control: string): string => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(value).replace(controls, escaped)}\n`;
}
