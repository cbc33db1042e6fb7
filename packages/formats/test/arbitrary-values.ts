import fc from "fast-check";

/** Any text, with what breaks careless encoders: U+0000, lone surrogates, direction marks. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("\u0000", "\ud800", "a\udc00b", "\ufeff", "\u202e", "__proto__", "<|endoftext|>", " \n"),
);

/** Few ids, so that calls and results meet. */
export const id: fc.Arbitrary<string> = fc.constantFrom("call_1", "call_2", "call_3", "call_ü");

export const base64: fc.Arbitrary<string> = fc.constantFrom("", "aGk=", "aGVsbG8gd29ybGQ=");

export const json: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(-0, 1.7976931348623157e308, 0.1 + 0.2, 1e21, 9007199254740993n),
);

/** What a type does not name must come back all the same. */
export const unknownMembers: fc.Arbitrary<Record<string, unknown>> = fc.dictionary(
  fc.constantFrom("x_vendor", "annotations", "__proto__", "$turnkeep"),
  json,
  { maxKeys: 2, noNullPrototype: true },
);

export const some = <T>(of: fc.Arbitrary<T>, minLength = 0): fc.Arbitrary<T[]> =>
  fc.array(of, { minLength, maxLength: 4 });

type Members = Record<string, fc.Arbitrary<unknown>>;

/** Plain objects, as JSON and literals give them. */
export function plain(required: Members, optional: Members = {}): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(
    { ...required, ...optional },
    { requiredKeys: Object.keys(required), noNullPrototype: true },
  ) as fc.Arbitrary<Record<string, unknown>>;
}

/** Plain objects with members that the type does not name. */
export function record(required: Members, optional: Members = {}): fc.Arbitrary<Record<string, unknown>> {
  return fc.tuple(plain(required, optional), unknownMembers).map(([own, more]) => {
    const copy = { ...own };
    for (const [name, value] of Object.entries(more)) {
      Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return copy;
  });
}
