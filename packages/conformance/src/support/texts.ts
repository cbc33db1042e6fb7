import fc from "fast-check";

/**
 * Pieces of ids that databases, drivers and hand-made keys stumble over. Each is put in front of and behind something
 * unique, so that it stands at the edge of an id.
 */
export const hostilePieces: readonly string[] = [
  "*",
  "?",
  "[a-z]",
  ":",
  "::",
  "/",
  "//",
  "../",
  "\\",
  "{}",
  "{a}",
  "}{",
  "$",
  "$1",
  "$where",
  "%",
  "%s",
  "%00",
  "_",
  "#",
  "&=",
  "'",
  "''",
  '"',
  "`",
  "\\'",
  "; drop table x; --",
  "|",
  "~",
  "^",
  ".",
  "..",
  ",",
  "\t",
  "\n",
  "\r\n",
  "\u0001",
  "\u001f",
  "\u007f",
  "\u0085",
  "\u00a0",
  "\u200b",
  "\u2028",
  "\ufeff",
  "\ufffd",
  "\uffff",
  "é",
  "ß",
  "日本語",
  "עברית",
  "🙂",
  "👩‍👩‍👧‍👦",
  "🇩🇪",
  "\u{10ffff}",
];

/** Ids that mean something to a language or a database as they stand. */
export const reservedIds: readonly string[] = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "null",
  "undefined",
  "NaN",
  "true",
  "0",
  "-1",
  "01",
  "1e3",
  " ",
  ".",
  "..",
  "*",
  "{}",
  "[]",
  "''",
  '"',
  "$",
  "_id",
  "id",
];

/** Pairs of texts that are different, however alike they look; a database that folds, trims or normalises mixes them up. */
export const alike: readonly (readonly [why: string, one: string, other: string])[] = [
  ["upper and lower case", "Alice", "alice"],
  ["upper and lower case beyond ASCII", "ÄÖ", "äö"],
  ["the dotted capital I", "\u0130", "i\u0307"],
  ["sharp s", "straße", "strasse"],
  ["normalisation form", "caf\u00e9", "cafe\u0301"],
  ["compatibility forms", "\ufb01", "fi"],
  ["full-width forms", "\uff21", "A"],
  ["the Kelvin sign", "\u212a", "K"],
  ["a trailing blank", "a", "a "],
  ["a leading blank", "a", " a"],
  ["a trailing line feed", "a", "a\n"],
  ["a trailing zero-width space", "a", "a\u200b"],
  ["a byte order mark", "a", "\ufeffa"],
  ["two kinds of blank", "a b", "a\u00a0b"],
  ["a leading zero", "1", "01"],
  ["a number's notation", "1", "1.0"],
  ["look-alikes of two scripts", "a", "\u0430"],
  ["escapes", "%41", "A"],
  ["escaped quotes", "a'b", "a''b"],
  ["a backslash", "a\\nb", "a\nb"],
  ["a key's separator", "a:b", "a"],
  ["a prefix", "ab", "a"],
  ["beyond the basic plane", "\u{1f642}", "\u{1f643}"],
];

/** Pairs of texts of the same 32-bit hash; those of the first kind keep it with the same text behind both. */
export const sameHash: readonly (readonly [hash: string, one: string, other: string])[] = [
  ["31 times, as Java's", "Aa", "BB"],
  ["33 times", "hetairas", "mentioner"],
  ["33 times and exclusive or", "haggadot", "loathsomenesses"],
  ["FNV-1", "creamwove", "quists"],
  ["FNV-1a", "costarring", "liquid"],
  ["CRC-32", "plumless", "buckeroo"],
  ["MurmurHash3", "91949e44", "ef69b10d"],
];

/** Texts of which a digest begins with the same 32 bits, as they stand. */
export const sameDigest: readonly (readonly [digest: string, one: string, other: string])[] = [
  ["SHA-256", "chat-43124", "chat-47008"],
  ["SHA-1", "chat-27061", "chat-100394"],
  ["MD5", "chat-3165", "chat-65351"],
];

/** JSON texts that must come back character for character. */
export const payloads: readonly (readonly [what: string, text: string])[] = [
  ["an empty text", '""'],
  ["a number", "0"],
  ["null", "null"],
  ["emoji and combining marks", '"🙂 👩‍👩‍👧‍👦 e\u0301 é \u{10ffff}"'],
  ["U+FFFD", '"\ufffd"'],
  ["noncharacters", '"\uffff \ufffe \ufdd0"'],
  ["a byte order mark", '"\ufeff"'],
  ["an escaped lone surrogate", '"\\ud800 \\udc00\\ud800"'],
  ["an escaped U+0000", '"a\\u0000b"'],
  ["an escaped pair", '"\\ud83d\\ude42"'],
  ["escaped control characters", '"\\u0001\\u001f\\t\\n\\r"'],
  ["DEL and line separators", '"\u007f\u0085\u2028\u2029"'],
  ["quotes and backslashes", '"\\" \\\\ \' ` \\/ \\\\\\""'],
  ["what a template or statement would expand", `"$1 \${a} %s {0} :name ? ; -- '; drop table x"`],
  ["blanks between the tokens", ' {\t"a" : [ 1 ,\r\n 2 ] }\n '],
  ["trailing blanks", '"a"   '],
  ["numbers that a parser would change", "[-0, 1.0, 1e2, 1E400, 12345678901234567890.10, 0.1e-7]"],
  ["the order of members", '{"b":1,"a":2,"10":3,"9":4}'],
  ["a member twice", '{"a":1,"a":2}'],
  ["names with a meaning", '{"__proto__":{"x":1},"constructor":1,"$where":1,"a.b":2,"":3,"_id":4}'],
  ["empty lists and objects", '{"a":[],"b":{},"c":[[]],"d":[{}]}'],
  ["deep nesting", `${"[".repeat(2000)}${"]".repeat(2000)}`],
  ["a text that looks like a date", '"2024-02-30T00:00:00.000Z"'],
];

/** The surrogates, which are no characters. */
const [firstSurrogate, surrogates] = [0xd800, 0x800];

/**
 * Any character. The same as fast-check's unit `"binary"`, which first builds a table of all 1,112,064 of them: a second of
 * work for whoever loads the kit.
 */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - surrogates })
  .map((index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates), indexOf);

/** The JSON of any text of at most so many characters. */
export function anyJsonText(maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: anyCharacter, maxLength }).map((text) => JSON.stringify(text));
}

/** Throws for what is no character, as fast-check wants it. */
function indexOf(character: unknown): number {
  const point = typeof character === "string" ? character.codePointAt(0) : undefined;
  if (point === undefined || String.fromCodePoint(point) !== character) throw new Error("No character");
  if (point < firstSurrogate) return point;
  if (point < firstSurrogate + surrogates) throw new Error("A surrogate is no character");
  return point - surrogates;
}
