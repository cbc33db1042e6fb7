import fc from "fast-check";

/** Any text, with what breaks careless encoders: U+0000, lone surrogates, direction marks. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("\u0000", "\ud800", "a\udc00b", "\ufeff", "\u202e", "__proto__", "<|endoftext|>"),
);
/** Few, so that calls and results meet. */
export const id: fc.Arbitrary<string> = fc.constantFrom("call_1", "call_2", "call_3", "call_ü");
export const base64: fc.Arbitrary<string> = fc.constantFrom("", "aGk=", "aGVsbG8gd29ybGQ=");
export const url: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "https://example.org/a.png",
    "data:image/png;base64,aGk=",
    "data:,a%20b",
    "",
    "data:broken",
  ),
  text,
);
export const count: fc.Arbitrary<number> = fc.oneof(fc.nat(), fc.constantFrom(-0, 1.5, 1e300));
export const json: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(-0, 1.7976931348623157e308, 0.1 + 0.2),
);

/** What the API's types do not name must come back all the same. */
const unknownMembers: fc.Arbitrary<Record<string, unknown>> = fc.dictionary(
  fc.constantFrom("x_vendor", "parsed", "__proto__", "$turnkeep"),
  json,
  { maxKeys: 2, noNullPrototype: true },
);

type Members<T> = { [K in keyof T]: fc.Arbitrary<T[K]> };

/** Objects with these members, some of the optional ones, and members that no type names. */
export function shape<R extends object, O extends object = object>(
  required: Members<R>,
  optional: Members<O> = {} as Members<O>,
): fc.Arbitrary<R & Partial<O>> {
  return fc.tuple(plain(required, optional), unknownMembers).map(([own, more]) => {
    const copy = { ...own };
    for (const [key, value] of Object.entries(more)) {
      Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return copy;
  });
}

/** Objects with these members and no other. */
export function plain<R extends object, O extends object = object>(
  required: Members<R>,
  optional: Members<O> = {} as Members<O>,
): fc.Arbitrary<R & Partial<O>> {
  return fc.record({ ...required, ...optional }, {
    requiredKeys: Object.keys(required),
    noNullPrototype: true,
  } as object) as fc.Arbitrary<R & Partial<O>>;
}

export const some = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(of, { maxLength: 4 });
export const orNull = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.oneof(of, fc.constant(null));
