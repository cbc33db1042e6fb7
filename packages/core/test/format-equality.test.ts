import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodePayload, equalContent } from "../src/index.ts";
import { anyValue, copied, objectOf } from "./format-support.ts";

/** The same content in other objects, with every object's members in reverse. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return objectOf(
    [...Object.entries(value).map(([key, member]) => [key, reversed(member)] as const)].reverse(),
  );
}

describe("equality of content", () => {
  test("is reflexive over copies, symmetric, and blind to the order of keys and to undefined members", () => {
    fc.assert(
      fc.property(anyValue, anyValue, (a, b) => {
        expect(equalContent(a, copied(a))).toBe(true);
        expect(equalContent(a, reversed(a))).toBe(true);
        expect(equalContent(a, b)).toBe(equalContent(b, a));
        expect(equalContent({ a, b: undefined }, { a })).toBe(true);
        expect(equalContent({ a }, { a, b: undefined })).toBe(true);
        expect(equalContent([a], [a, a])).toBe(false);
      }),
    );
  });

  test("says equal exactly where the encoded texts of sorted copies agree", () => {
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted);
      if (typeof value !== "object" || value === null) return value;
      return objectOf(
        Object.entries(value)
          .map(([key, member]) => [key, sorted(member)] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      );
    };
    const canonical = (value: unknown): string =>
      JSON.stringify(sorted(JSON.parse(encodePayload("test", 1, value))));
    fc.assert(
      fc.property(anyValue, anyValue, (a, b) => {
        expect(equalContent(a, b)).toBe(canonical(a) === canonical(b));
      }),
    );
  });

  test.each<[string, unknown, unknown]>([
    ["0 and -0", 0, -0],
    ["a number and its text", 1, "1"],
    ["null and undefined", null, undefined],
    ["null and an object", null, {}],
    ["an array and an object", [], {}],
    ["a hole and a value", new Array(1), [1]],
    ["bytes and a buffer", new Uint8Array(2), new ArrayBuffer(2)],
    ["bytes of other length", new Uint8Array(2), new Uint8Array(3)],
    ["other bytes", Uint8Array.of(1), Uint8Array.of(2)],
    ["other buffers", Uint8Array.of(1).buffer, Uint8Array.of(2).buffer],
    ["a URL and its text", new URL("https://a.example/"), "https://a.example/"],
    ["other URLs", new URL("https://a.example/"), new URL("https://b.example/")],
    ["other dates", new Date(1), new Date(2)],
    ["a date and an object", new Date(1), {}],
    ["an inherited member and an own one", { toString: 1 }, {}],
    ["a null member and an absent one", { a: null }, {}],
    ["other maps", new Map([[1, 1]]), new Map([[2, 2]])],
  ])("%s differ", (_name, a, b) => {
    expect(equalContent(a, b)).toBe(false);
    expect(equalContent(b, a)).toBe(false);
    expect(equalContent({ in: [a] }, { in: [b] })).toBe(false);
  });

  test("a Buffer equals the same bytes, NaN equals itself, __proto__ counts", () => {
    expect(equalContent(Buffer.from("ab"), new TextEncoder().encode("ab"))).toBe(true);
    expect(equalContent([Number.NaN], [Number.NaN])).toBe(true);
    expect(equalContent(objectOf([["__proto__", {}]]), {})).toBe(false);
    expect(equalContent(objectOf([["__proto__", { a: 1 }]]), objectOf([["__proto__", { a: 1 }]]))).toBe(true);
  });
});
