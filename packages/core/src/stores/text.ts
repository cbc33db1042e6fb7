/** The result of one pass over a text. */
export interface TextScan {
  /** Length in UTF-8 bytes; a lone surrogate counts 3, as an encoder would write U+FFFD for it. */
  readonly bytes: number;
  /** Why the text is not well-formed Unicode without U+0000; `undefined` if it is. */
  readonly fault: "a lone surrogate" | "U+0000" | undefined;
}

/** Anything that is not printable ASCII: only such characters can have several bytes or be a fault. */
const unusual = /[^\t\n\r -~]/;

/** Half of a pair: characters beyond the basic plane have two. */
const surrogate = /[\ud800-\udfff]/;

/** Whether a text is certain to be well-formed Unicode without U+0000; found many times faster than its length. */
export function isPlainText(text: string): boolean {
  return !surrogate.test(text) && !text.includes("\0");
}

/** Measures a text and looks for what a database could not store, in one pass and without a copy. */
export function scanText(text: string): TextScan {
  const { length } = text;
  let bytes = length;
  let fault: TextScan["fault"];
  // The engine's own search is fast from the first call, and most texts end here.
  const first = text.search(unusual);
  for (let index = first < 0 ? length : first; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      if (unit === 0) fault ??= "U+0000";
    } else if (unit < 0x800) {
      bytes += 1;
    } else if (unit < 0xd800 || unit > 0xdfff) {
      bytes += 2;
    } else {
      // Past the end this is NaN, which is in no range.
      const next = unit < 0xdc00 ? text.charCodeAt(index + 1) : 0;
      bytes += 2;
      if (next >= 0xdc00 && next <= 0xdfff) index++;
      else fault ??= "a lone surrogate";
    }
  }
  return { bytes, fault };
}

/**
 * The length of a text in UTF-8 bytes, without encoding it.
 *
 * @example
 * ```ts
 * import { utf8Length } from "@turnkeep/core/store-kit";
 *
 * utf8Length("héllo 🙂"); // 11
 * ```
 */
export function utf8Length(text: string): number {
  return scanText(text).bytes;
}
