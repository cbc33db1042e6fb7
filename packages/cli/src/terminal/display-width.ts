import { oneLine } from "./controls.ts";

/**
 * How wide a text stands in a terminal, for cutting previews to a column. East Asian wide characters and emoji take
 * two columns, marks that join the character before them none.
 */
const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of segments.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** The text in one line of at most `width` columns, with an ellipsis where something is missing. */
export function cutTo(text: string, width: number): string {
  // Four characters a column are more than any script needs; the rest cannot be seen.
  const line = oneLine(text.slice(0, width * 8));
  if (text.length <= width * 8 && displayWidth(line) <= width) return line;
  let cut = "";
  let used = 0;
  for (const { segment } of segments.segment(line)) {
    const step = wide.test(segment) ? 2 : 1;
    if (used + step > width - 1) break;
    cut += segment;
    used += step;
  }
  return `${cut.trimEnd()}…`;
}
