import { describe, expect, test } from "vitest";
import { mapJsonText } from "../src/index.ts";

const map = (value: unknown, change: (text: string) => string, keepsKind: boolean): unknown =>
  mapJsonText(value, typeof value === "string" ? value : JSON.stringify(value), change, keepsKind);

describe("mapJsonText", () => {
  test("answers the value itself when its text stays", () => {
    const value = { a: [1] };
    expect(map(value, (text) => text, true)).toBe(value);
    expect(map(value, (text) => text, false)).toBe(value);
  });

  test("takes a text as it is, also one that looks like JSON", () => {
    expect(map("a", () => '{"b":1}', true)).toBe('{"b":1}');
    expect(mapJsonText(undefined, "", () => "[1]", true)).toBe("[1]");
  });

  test("takes JSON as JSON, and anything else as a text", () => {
    expect(map({ a: 1 }, () => "[2]", false)).toEqual([2]);
    expect(map({ a: 1 }, () => "[2", false)).toBe("[2");
    expect(map(1, () => "null", true)).toBeNull();
    expect(map(null, () => "none", true)).toBe("none");
  });

  test("keeps objects and lists where it has to", () => {
    const change = (after: string) => (text: string) => (text.length > 3 ? after : `${text}!`);
    expect(map({ a: "b", c: [1, true] }, change("[2]"), true)).toEqual({ a: "b!", c: ["1!", true] });
    expect(map(["b", 1, null], change("{}"), true)).toEqual(["b!", "1!", null]);
    expect(map(["b", 1], change("[]"), true)).toEqual([]);
    expect(map({ a: "b" }, change("null"), true)).toEqual({ a: "b!" });
  });

  test("keeps a member named __proto__ as data", () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":"b"}}');
    const changed = map(value, (text) => (text.length > 1 ? "cut" : "c"), true);
    expect(JSON.stringify(changed)).toBe('{"__proto__":{"a":"c"}}');
  });
});
