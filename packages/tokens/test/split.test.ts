import fc from "fast-check";
import { expect, it } from "vitest";
import { cutCl100k, cutO200k, cutR50k } from "../src/split.ts";
import { cl100kPattern, o200kPattern, r50kPattern } from "./patterns.ts";

/** Characters of every class, and those that the expressions name. */
const characters = fc.constantFrom(
  ...["'", "s", "S", "ſ", "t", "l", "L", "v", "e", "E", "r", "d", "m", " ", "  ", "\n", "\r", "\t", "\u0085"],
  ...[
    "\ufeff",
    "\u2028",
    "\u00a0",
    "/",
    "!",
    "_",
    "A",
    "Ab",
    "ǅ",
    "ʰ",
    "ª",
    "中",
    "\u0301",
    "\u0903",
    "é",
    "É",
  ],
  ...["1", "²", "٣", "𝟙", "😀", "𐐀", "𐐨", "𠀀", "\ud800", "\udc00"],
);
const text = fc.oneof(
  { weight: 3, arbitrary: fc.array(characters, { maxLength: 12 }).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 10 }) },
);

it.each([
  ["o200k_base", cutO200k, o200kPattern],
  ["cl100k_base", cutCl100k, cl100kPattern],
  ["r50k_base and p50k_base", cutR50k, r50kPattern],
] as const)("cuts for %s as the regular expression does", (_, cut, pattern) => {
  const expression = new RegExp(pattern, "gu");
  fc.assert(
    fc.property(text, (value) => {
      const pieces: string[] = [];
      for (let at = 0; at < value.length; ) {
        const end = cut(value, at);
        pieces.push(value.slice(at, end));
        // A piece is never empty, or a caller would never come to the end.
        expect(end).toBeGreaterThan(at);
        at = end;
      }
      expect(pieces).toEqual(value.match(expression) ?? []);
    }),
    { numRuns: 2_000 },
  );
});
