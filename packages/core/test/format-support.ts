import fc from "fast-check";
import type { ModelMessageLike } from "../src/index.ts";

/** Texts that break careless encoders: lone surrogates, U+0000, quotes, separators, the codec's own tag. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.array(fc.integer({ min: 0xd800, max: 0xdfff })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    "",
    "\u0000",
    "a\u0000b",
    "\ud800",
    "\udc00x",
    '"\\\u2028\u2029',
    "$turnkeep",
    '{"$turnkeep":"Date","value":"x"}',
    "__proto__",
  ),
);

/** Keys that are special to an object, to JSON or to the codec. */
export const hostileKey: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "__proto__",
      "constructor",
      "toString",
      "toJSON",
      "hasOwnProperty",
      "prototype",
      "$turnkeep",
      "value",
      "message",
      "type",
      "0",
    ),
  },
);

const bytes: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 40 });

const leaf: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.double(),
  fc.integer(),
  fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  fc.constantFrom(0.1 + 0.2, 5e-324, Number.MAX_VALUE, 2 ** 53, 1e21, 123456789.12345679),
  fc.bigInt(),
  fc.boolean(),
  fc.constant(null),
  bytes,
  bytes.map((of) => of.buffer.slice(of.byteOffset, of.byteOffset + of.byteLength)),
  fc.webUrl({ withQueryParameters: true, withFragments: true }).map((text) => new URL(text)),
  fc.date({ noInvalidDate: true }),
);

/** An object with exactly these members, `__proto__` as data. */
export function objectOf(members: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(members);
}

/** Everything that the codec gives back as it was, nested, and objects that look like its tags. */
export const anyValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown; record: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    tie("record"),
    tie("value").map((value) => ({ $turnkeep: value })),
    fc
      .tuple(fc.constantFrom("Date", "object", "Uint8Array", "number", "bigint"), tie("value"))
      .map(([kind, value]) => ({ $turnkeep: kind, value })),
  ),
  record: fc.array(fc.tuple(hostileKey, tie("value")), { maxLength: 4 }).map(objectOf),
})).value;

function record<T extends Record<string, unknown>>(
  model: { [K in keyof T]: fc.Arbitrary<T[K]> },
): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

/** An object of these members, half of the time with hostile `providerOptions`. */
function part(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<{ type: string }> {
  const options = fc.array(fc.tuple(hostileKey, anyValue), { maxLength: 2 }).map(objectOf);
  return fc.oneof(record(members), record({ ...members, providerOptions: options })) as fc.Arbitrary<{
    type: string;
  }>;
}

const is = (type: string): fc.Arbitrary<string> => fc.constant(type);
const url = fc.webUrl().map((text) => new URL(text));
const reference = fc.constant({ openai: "file-1" });
const fileData: fc.Arbitrary<unknown> = fc.oneof(
  record({ type: is("data"), data: fc.oneof(bytes, fc.base64String()) }),
  record({ type: is("url"), url }),
  record({ type: is("reference"), reference }),
  record({ type: is("text"), text: hostileText }),
);
const anyData = fc.oneof(fileData, bytes, fc.base64String(), url, reference);

const outputContent = fc.oneof(
  part({ type: is("text"), text: hostileText }),
  part({ type: is("file"), data: fileData, mediaType: hostileText }),
  part({ type: is("file-data"), data: fc.base64String(), mediaType: hostileText }),
  part({ type: is("file-url"), url: fc.webUrl() }),
  part({ type: is("file-id"), fileId: hostileText }),
  part({ type: is("file-reference"), providerReference: reference }),
  part({ type: is("image-data"), data: fc.base64String(), mediaType: is("image/png") }),
  part({ type: is("image-url"), url: fc.webUrl() }),
  part({ type: is("image-file-id"), fileId: hostileText }),
  part({ type: is("image-file-reference"), providerReference: reference }),
  part({ type: is("media"), data: fc.base64String(), mediaType: is("image/png") }),
  part({ type: is("custom") }),
  part({ type: is("hologram"), body: anyValue }),
);

const output = fc.oneof(
  part({ type: is("text"), value: hostileText }),
  part({ type: is("json"), value: anyValue }),
  part({ type: is("execution-denied"), reason: hostileText }),
  part({ type: is("execution-denied") }),
  part({ type: is("error-text"), value: hostileText }),
  part({ type: is("error-json"), value: anyValue }),
  part({ type: is("content"), value: fc.array(outputContent, { maxLength: 3 }) }),
);

/** Every kind of part that the default format knows, and one that it does not. */
export const anyPart: fc.Arbitrary<{ type: string }> = fc.oneof(
  part({ type: is("text"), text: hostileText }),
  part({ type: is("image"), image: anyData }),
  part({ type: is("file"), data: anyData, mediaType: hostileText }),
  part({ type: is("reasoning"), text: hostileText }),
  part({ type: is("reasoning-file"), data: anyData, mediaType: hostileText }),
  part({ type: is("custom"), kind: is("openai.compaction") }),
  part({ type: is("tool-call"), toolCallId: hostileText, toolName: hostileText, input: anyValue }),
  part({ type: is("tool-result"), toolCallId: hostileText, toolName: hostileText, output }),
  part({ type: is("tool-approval-request"), approvalId: hostileText, toolCallId: hostileText }),
  part({ type: is("tool-approval-response"), approvalId: hostileText, approved: fc.boolean() }),
  part({ type: is("hologram"), body: anyValue }),
);

const parts = fc.array(anyPart, { maxLength: 4 });

/** Messages of the whole type, with members of their own beside. */
export const anyMessage: fc.Arbitrary<ModelMessageLike> = fc
  .tuple(
    fc.oneof(
      record({ role: is("system"), content: hostileText }),
      record({ role: fc.constantFrom("user", "assistant"), content: fc.oneof(hostileText, parts) }),
      record({ role: is("tool"), content: parts }),
    ),
    fc.array(
      fc.tuple(
        hostileKey.filter((key) => key !== "role" && key !== "content"),
        anyValue,
      ),
      { maxLength: 2 },
    ),
  )
  .map(([message, more]) => objectOf([...Object.entries(message), ...more]) as unknown as ModelMessageLike);

/**
 * A description of a value in every respect that must survive: class, key order, bytes, and which number. Vitest's own
 * equality stumbles over keys named `constructor`, and takes all URLs for one.
 */
export function described(value: unknown): unknown {
  if (typeof value === "number") return ["number", Object.is(value, -0) ? "-0" : String(value)];
  if (typeof value !== "object" || value === null) return [typeof value, String(value)];
  const name = Object.prototype.toString.call(value);
  if (Array.isArray(value)) return [name, value.map(described)];
  if (value instanceof URL) return ["URL", value.href];
  if (value instanceof Date) return [name, value.getTime()];
  if (value instanceof Uint8Array) return [Object.getPrototypeOf(value) === Uint8Array.prototype, [...value]];
  if (value instanceof ArrayBuffer) return [name, [...new Uint8Array(value)]];
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new Error("No plain object.");
  return [
    "object",
    Object.getOwnPropertyNames(value).map((key) => [
      key,
      described(Object.getOwnPropertyDescriptor(value, key)?.value),
    ]),
  ];
}

/** The same content in other objects. */
export function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof URL) return new URL(value.href);
  if (Object.getPrototypeOf(value) !== Object.prototype) return structuredClone(value);
  return objectOf(Object.entries(value).map(([key, member]) => [key, copied(member)]));
}
