import type { StoredMessage } from "@turnkeep/core";
import type { BrokenStore } from "./broken-store.ts";

/** For each text that must come back as it was: a fault that changes it. */
const changes: Readonly<Record<string, readonly [fault: string, change: (text: string) => string]>> = {
  "an empty text": ["takes an empty text for nothing", (text) => (text === '""' ? "null" : text)],
  "a number": ["takes zero for nothing", (text) => (text === "0" ? "null" : text)],
  null: ["takes null for an empty object", (text) => (text === "null" ? "{}" : text)],
  "U+FFFD": ["takes a replacement character for damage", (text) => text.replaceAll("\ufffd", "?")],
  noncharacters: ["drops noncharacters", (text) => text.replace(/[\uffff\ufffe\ufdd0]/g, "")],
  "a byte order mark": ["drops a byte order mark", (text) => text.replaceAll("\ufeff", "")],
  "an escaped U+0000": ["drops an escaped U+0000", (text) => text.replaceAll("\\u0000", "")],
  "an escaped pair": ["decodes an escaped pair", (text) => text.replaceAll("\\ud83d\\ude42", "\u{1f642}")],
  "escaped control characters": [
    "drops escaped control characters",
    (text) => text.replaceAll("\\u0001", ""),
  ],
  "DEL and line separators": [
    "takes line separators for line feeds",
    (text) => text.replaceAll("\u2028", "\\n"),
  ],
  "quotes and backslashes": ["decodes an escaped slash", (text) => text.replaceAll("\\/", "/")],
  "what a template or statement would expand": [
    "expands templates",
    (text) => text.replaceAll("$1", "first"),
  ],
  "blanks between the tokens": [
    "drops blanks between the tokens",
    (text) => text.replaceAll('"a" : ', '"a":'),
  ],
  "trailing blanks": ["trims trailing blanks of a text", (text) => text.replace(/ +$/, "")],
  "the order of members": [
    "sorts members",
    (text) => (text.startsWith('{"b":1,"a":2') ? '{"9":4,"10":3,"a":2,"b":1}' : text),
  ],
  "a member twice": [
    "keeps the last of two members",
    (text) => (text === '{"a":1,"a":2}' ? '{"a":2}' : text),
  ],
  "names with a meaning": ["drops the member __proto__", (text) => text.replace('"__proto__":{"x":1},', "")],
  "empty lists and objects": [
    "takes empty lists for empty objects",
    (text) => text.replaceAll('"a":[]', '"a":{}'),
  ],
  "deep nesting": ["cuts what is nested deeply", (text) => text.replace(/^\[{1001,}\]+$/, "[]")],
  "a text that looks like a date": [
    "takes a text for a date",
    (text) => text.replace("2024-02-30T", "2024-03-01T"),
  ],
};

export const brokenTexts: readonly BrokenStore[] = Object.entries(changes).map(([what, [fault, change]]) => {
  const changed = (message: StoredMessage): StoredMessage =>
    typeof message.payload === "string" ? { ...message, payload: change(message.payload) } : message;
  return {
    fault,
    caughtBy: ["payloads", `a payload keeps ${what}`],
    wrap: (base) => ({
      updateMessages(id, update, options) {
        const { append, replace } = update;
        const given = { ...update, append: append?.map(changed), replace: replace?.map(changed) };
        return base.updateMessages(id, given, options);
      },
    }),
  };
});
