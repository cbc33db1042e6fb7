import { type BrokenStore, isId } from "./broken-store.ts";

/** For each pair of ids that a database may take for one: how it comes to do so. */
const foldings: Readonly<Record<string, readonly [fault: string, fold: (id: string) => string]>> = {
  "upper and lower case beyond ASCII": [
    "lets a locale fold umlauts",
    (id) => id.replace(/[ÄÖÜ]/g, (c) => c.toLowerCase()),
  ],
  "the dotted capital I": ["lower-cases the dotted capital I", (id) => id.replaceAll("\u0130", "i\u0307")],
  "sharp s": ["compares by a collation with sharp s as ss", (id) => id.replaceAll("ß", "ss")],
  "compatibility forms": ["takes ligatures apart", (id) => id.replaceAll("\ufb01", "fi")],
  "full-width forms": [
    "narrows full-width letters",
    (id) => id.replace(/[\uff21-\uff3a]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 0xfee0)),
  ],
  "the Kelvin sign": ["takes the Kelvin sign for a K", (id) => id.replaceAll("\u212a", "K")],
  "a leading blank": ["trims leading blanks of ids", (id) => id.replace(/^ +/, "") || id],
  "a trailing line feed": ["drops a line feed at the end of an id", (id) => id.replace(/\n$/, "") || id],
  "a trailing zero-width space": ["ignores zero-width spaces", (id) => id.replaceAll("\u200b", "") || id],
  "a byte order mark": ["ignores byte order marks", (id) => id.replaceAll("\ufeff", "") || id],
  "two kinds of blank": ["takes all blanks for one", (id) => id.replaceAll("\u00a0", " ")],
  "a leading zero": ["drops leading zeros of numbers", (id) => id.replace(/^0+(?=\d)|0+(?=\d$)/g, "")],
  "a number's notation": ["shortens numbers", (id) => id.replaceAll("1.0", "1")],
  "look-alikes of two scripts": [
    "takes a Cyrillic letter for a Latin one",
    (id) => id.replaceAll("\u0430", "a"),
  ],
  escapes: ["decodes percent signs", (id) => id.replaceAll("%41", "A")],
  "escaped quotes": ["takes two quotes for one", (id) => id.replaceAll("''", "'")],
  "a backslash": ["decodes backslashes", (id) => id.replaceAll("\\n", "\n")],
  "a prefix": [
    "looks memories up by the beginning of their ids",
    (id) => id.replace(/^ab(?=[0-9a-f]{8})|ab$/g, "a"),
  ],
  "beyond the basic plane": [
    "keeps what lies beyond the basic plane as one sign",
    (id) => id.replace(/[\u{10000}-\u{10ffff}]/gu, "?"),
  ],
};

export const brokenAlike: readonly BrokenStore[] = Object.entries(foldings).map(([why, [fault, fold]]) => {
  const folded = (id: string): string => (isId(id) ? fold(id) : id);
  return {
    fault,
    caughtBy: ["ids", `memory ids that differ in ${why} are apart`],
    wrap: (base) => ({
      getMessages: async (id, options) => base.getMessages(folded(id), options),
      updateMessages: async (id, update, options) => base.updateMessages(folded(id), update, options),
      deleteMessages: async (id, options) => base.deleteMessages(folded(id), options),
      getHistory: async (id, query, options) => base.getHistory(folded(id), query, options),
    }),
  };
});
