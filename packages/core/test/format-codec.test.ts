import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { copyOf } from "../src/format/checked-codec.ts";
import { checkedCodec } from "../src/format-kit.ts";
import {
  decodePayload,
  encodePayload,
  equalContent,
  type MessageFormat,
  modelMessageFormat,
  user,
} from "../src/index.ts";
import { thrown } from "./format-parts.ts";
import { anyValue, described, hostileKey, objectOf } from "./format-support.ts";

const encode = (value: unknown): string => encodePayload("test", 1, value);
const decode = (text: string): unknown => decodePayload(text, "test", 1);
const roundTrip = (value: unknown): unknown => decode(encode(value));

/** So many arrays in each other. */
function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < depth; level++) value = [value];
  return value;
}

describe("round trip", () => {
  test("of arbitrary values: equal, and well-formed JSON without U+0000", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const text = encode(value);
        expect(text).not.toMatch(/\p{Surrogate}/u);
        expect(text).not.toContain("\u0000");
        expect(JSON.parse(text)).toMatchObject({ format: "test", version: 1 });
        const back = decode(text);
        expect(described(back)).toEqual(described(value));
        expect(equalContent(back, value)).toBe(true);
        expect(encode(back)).toBe(text);
      }),
    );
  });

  test("leaves the argument as it is", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const before = described(value);
        encode(value);
        expect(described(value)).toEqual(before);
      }),
    );
    const frozen = Object.freeze({ a: Object.freeze([new Date(5), -0]) });
    expect(roundTrip(frozen)).toStrictEqual({ a: [new Date(5), -0] });
  });

  test("keys such as __proto__ are data in both directions and reach no prototype", () => {
    const before = Reflect.ownKeys(Object.prototype);
    fc.assert(
      fc.property(hostileKey, anyValue, (key, value) => {
        const given = objectOf([
          [key, { polluted: value }],
          ["other", new Date(0)],
        ]);
        const back = roundTrip(given) as Record<string, unknown>;
        expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
        expect(Object.keys(back).sort()).toEqual(Object.keys(given).sort());
        expect(described(back)).toEqual(described(given));
      }),
    );
    const back = roundTrip(objectOf([["__proto__", { polluted: new Date(1) }]])) as Record<string, unknown>;
    expect("polluted" in back).toBe(false);
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
    expect("polluted" in {}).toBe(false);
  });

  test.each([
    ["-0", -0],
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["17 digits", 0.30000000000000004],
    ["the smallest number", 5e-324],
    ["the largest number", 1.7976931348623157e308],
    ["a bigint beyond 64 bits", -(2n ** 200n)],
    ["an empty binary", new Uint8Array()],
    ["an ArrayBuffer", Uint8Array.of(0, 255, 128).buffer],
    ["a URL", new URL("https://ü.example/%00?q=ä&b#f")],
    ["a data URL", new URL("data:text/plain,hi")],
    ["a date before year 0", new Date(-8.64e15)],
    ["a date after year 9999", new Date(8.64e15)],
    ["a tag in a tag", { $turnkeep: "object", value: { $turnkeep: "Date", value: "x" } }],
    ["a tag with a binary", { $turnkeep: { $turnkeep: Uint8Array.of(1) } }],
    ["a tag that is no text", [{ $turnkeep: 5 }, { $turnkeep: null }]],
  ])("%s", (_name, value) => {
    expect(described(roundTrip(value))).toEqual(described(value));
    expect(described(roundTrip({ deep: [{ value }] }))).toEqual(described({ deep: [{ value }] }));
  });

  test("a part of a larger buffer and a Buffer come back as the bytes they show", () => {
    const whole = Uint8Array.from({ length: 300 }, (_, index) => index & 255);
    expect(roundTrip(whole.subarray(7, 290))).toStrictEqual(whole.slice(7, 290));
    const back = roundTrip(Buffer.from("Grüße"));
    expect(Object.getPrototypeOf(back)).toBe(Uint8Array.prototype);
    expect(back).toStrictEqual(new TextEncoder().encode("Grüße"));
  });

  test("members that are undefined are left out; objects without a prototype become ordinary ones", () => {
    expect(roundTrip({ a: undefined, b: 1 })).toStrictEqual({ b: 1 });
    expect(roundTrip(Object.assign(Object.create(null), { a: 1 }))).toStrictEqual({ a: 1 });
  });

  test("what JSON.stringify would call is data or is not seen", () => {
    const hidden = Object.defineProperty({ a: 1 }, "toJSON", { value: () => "replaced", enumerable: false });
    expect(roundTrip(hidden)).toStrictEqual({ a: 1 });
    expect(roundTrip({ toJSON: "text" })).toStrictEqual({ toJSON: "text" });
  });

  test("a member is read once, so that what was checked is what is written", () => {
    let reads = 0;
    const changing = {
      get answer() {
        return ++reads === 1 ? "first" : () => "a function";
      },
    };
    expect(roundTrip(changing)).toStrictEqual({ answer: "first" });
    expect(reads).toBe(1);
  });

  test("an object that stands in two places is no cycle", () => {
    const shared = { at: new Date(3) };
    expect(roundTrip([shared, { shared }])).toStrictEqual([shared, { shared }]);
  });

  test("1 MB of text and 1 MB of bytes", () => {
    const text = "a\u0000ü\ud83d\ude00\ud800".repeat(175_000);
    const bytes = Uint8Array.from({ length: 1 << 20 }, (_, index) => (index * 31 + (index >> 8)) & 255);
    const back = roundTrip({ text, bytes }) as { text: string; bytes: Uint8Array };
    expect(back.text === text).toBe(true);
    expect(Buffer.compare(back.bytes, bytes)).toBe(0);
  });

  test("decoding gives a fresh value each time", () => {
    const text = encode({ list: [new Date(0)] });
    expect(decode(text)).not.toBe(decode(text));
  });
});

describe("nesting", () => {
  test("works both ways at the limit, of arrays and of tagged objects", () => {
    expect(equalContent(roundTrip(nested(500)), nested(500))).toBe(true);
    let tagged: unknown = { $turnkeep: new Date(0) };
    for (let level = 1; level < 500; level++) tagged = { $turnkeep: tagged };
    expect(equalContent(roundTrip(tagged), tagged)).toBe(true);
  });

  test.each([501, 100_000])("%i levels are refused", (depth) => {
    expect(thrown(() => encode(nested(depth)))).toMatchObject({
      code: "INVALID_MESSAGE",
      message: expect.stringMatching(/^message(\[0\]){12}… is nested deeper than 500;/),
    });
  });

  test("a tagged text of 100,000 levels is a corrupt record", () => {
    const text = `{"format":"test","version":1,"message":${"[".repeat(100_000)}{"$turnkeep":"number","value":"-0"}${"]".repeat(100_000)}}`;
    expect(thrown(() => decode(text)).code).toBe("CORRUPT_RECORD");
  });

  test.each([
    ["lists", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["objects", `${'{"a":'.repeat(1100)}1${"}".repeat(1100)}`],
  ])("an untagged text of %s that are nested deeper than any that was written is one too", (_, message) => {
    const text = `{"format":"test","version":1,"message":${message}}`;
    expect(thrown(() => decode(text)).code).toBe("CORRUPT_RECORD");
  });

  test.each([
    ["deeper than the limit", nested(501), nested(501)],
    ["without end", endless(), endless()],
  ])("what is nested %s is not compared", (_, a, b) => {
    expect(thrown(() => equalContent(a, b)).code).toBe("INVALID_MESSAGE");
  });
});

function endless(): unknown {
  const list: unknown[] = [];
  list.push(list);
  return list;
}

class Point {
  readonly x = "secret";
}
class List extends Array<string> {}

describe("what could not be given back is INVALID_MESSAGE and named by its path", () => {
  const cyclic: { list: unknown[] } = { list: [] };
  cyclic.list.push(cyclic);
  const failing = {
    get secret(): never {
      throw new RangeError("own");
    },
  };
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  test.each<[string, unknown, string]>([
    ["a function", () => "secret", "a function"],
    ["a symbol", Symbol("secret"), "a symbol"],
    ["a Map", new Map([["secret", 1]]), "an instance of Map"],
    ["a Set", new Set(["secret"]), "an instance of Set"],
    ["a class instance", new Point(), "an instance of Point"],
    ["a subclass of Array", List.of("secret"), "an instance of List"],
    ["an error", new Error("secret"), "an instance of Error"],
    ["a regular expression", /secret/, "an instance of RegExp"],
    ["a promise", Promise.resolve("secret"), "an instance of Promise"],
    ["another view", Float64Array.of(1), "an instance of Float64Array"],
    ["a claimed Uint8Array", Object.create(Uint8Array.prototype), "an instance of Uint8Array"],
    ["a claimed Date", Object.create(Date.prototype), "an instance of Date"],
    ["inherited members", Object.create({ secret: 1 }), "an instance of Object"],
    ["members of an own root", Object.create(Object.assign(Object.create(null), { secret: 1 })), "a class"],
    ["an invalid Date", new Date(Number.NaN), "an invalid Date"],
    ["undefined in an array", [undefined], "undefined in an array"],
    ["a hole", new Array(1), "undefined in an array"],
    ["named members of an array", Object.assign([1], { secret: 1 }), "an array with named members"],
    ["a symbol as a key", { [Symbol("secret")]: 1 }, "an object with a symbol as a key"],
    ["a cycle", cyclic, "a reference to an object that contains it"],
    ["a getter that throws", failing, "a member that throws"],
    ["a revoked proxy", revoked.proxy, "a member that throws"],
  ])("%s", (_name, value, what) => {
    const error = thrown(() => encode({ content: [{ "a b": value }] }));
    expect(error.code).toBe("INVALID_MESSAGE");
    expect(error.message).toMatch(/^message\.content\[0\]\["a b"\]/);
    expect(error.message).toContain(what);
    expect(error.message.replace(".secret", "")).not.toContain("secret");
  });

  test("undefined itself", () => {
    expect(thrown(() => encode(undefined))).toMatchObject({
      code: "INVALID_MESSAGE",
      message: expect.stringMatching(/^message is undefined;/),
    });
  });

  test("a getter's error is the cause, and names its member", () => {
    const error = thrown(() => encode({ failing }));
    expect(error.message).toMatch(/^message\.failing\.secret is a member that throws/);
    expect(error.cause).toBeInstanceOf(RangeError);
  });

  test("a long key is cut in the path", () => {
    const error = thrown(() => encode({ ["k".repeat(1_000_000)]: () => 1 }));
    expect(error.message.length).toBeLessThan(250);
  });
});

describe("records that cannot be read", () => {
  const payload = (message: string): string => `{"format":"test","version":1,"message":${message}}`;

  test.each([
    ["no JSON", '{"format":"test","secret'],
    ["nothing", ""],
    ["a number", "7"],
    ["null", "null"],
    ["an array", '["secret"]'],
    ["no format", '{"version":1,"message":"secret"}'],
    ["no version", '{"format":"test","message":"secret"}'],
    ["version 0", '{"format":"test","version":0,"message":"secret"}'],
    ["a version between", '{"format":"test","version":1.5,"message":"secret"}'],
    ["a version as text", '{"format":"test","version":"1","message":"secret"}'],
    ["no message", '{"format":"test","version":1}'],
    ["another format", '{"format":"other","version":1,"message":"secret"}'],
    ["a format that is a secret", '{"format":"my Secret: secret","version":1,"message":1}'],
    ["an unknown tag", payload('{"$turnkeep":"secret","value":"secret"}')],
    ["an inherited name as a tag", payload('{"$turnkeep":"toString","value":"secret"}')],
    ["a tag that is no text", payload('{"$turnkeep":7,"value":"secret"}')],
    ["a tag without a value", payload('{"$turnkeep":"Date"}')],
    ["a bad date", payload('{"$turnkeep":"Date","value":"secret"}')],
    ["a bad URL", payload('{"$turnkeep":"URL","value":"secret"}')],
    ["bad base64", payload('{"$turnkeep":"Uint8Array","value":"secret!"}')],
    ["a bad buffer", payload('{"$turnkeep":"ArrayBuffer","value":"ü"}')],
    ["a bad bigint", payload('{"$turnkeep":"bigint","value":""}')],
    ["a bad number", payload('{"$turnkeep":"number","value":"1"}')],
    ["a wrapped text", payload('{"$turnkeep":"object","value":"secret"}')],
    ["a wrapped null", payload('{"$turnkeep":"object","value":null}')],
    ["an object wrapped for nothing", payload('{"$turnkeep":"object","value":{"secret":1}}')],
  ])("%s", (_name, text) => {
    const error = thrown(() => decode(text));
    expect(error.code).toBe("CORRUPT_RECORD");
    expect(error.message).not.toContain("secret");
    expect(error.cause).toBeUndefined();
  });

  test("another format is named where its name is one", () => {
    expect(thrown(() => decode('{"format":"openai-chat","version":9,"message":1}')).message).toContain(
      '"openai-chat"',
    );
  });

  test("a later version is UNSUPPORTED_VERSION, an earlier one is read", () => {
    expect(thrown(() => decode('{"format":"test","version":2,"message":{"secret":1}}'))).toMatchObject({
      code: "UNSUPPORTED_VERSION",
      message: expect.not.stringContaining("secret"),
    });
    expect(decodePayload(encode({ a: 1 }), "test", 3)).toEqual({ a: 1 });
  });
});

describe("a copy that is made with its text", () => {
  const codec = checkedCodec<unknown>("test", 1, () => {});
  const format = { ...modelMessageFormat, ...codec } as MessageFormat<unknown>;

  test("is what the text is read as, and shares no object with what was given", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const { payload, message } = copyOf(value, format);
        expect(payload).toBe(encode(value));
        const read = decode(payload);
        expect(described(message)).toEqual(described(read));
        expect(encode(message)).toBe(payload);
        if (typeof value === "object" && value !== null) expect(message).not.toBe(value);
      }),
    );
  });

  test("is read where the text is parsed, by a format that has replaced one half of the codec", () => {
    const shouted = { ...modelMessageFormat, encode: () => modelMessageFormat.encode(user("HELLO")) };
    expect(copyOf(user("hello"), shouted).message).toEqual(user("HELLO"));
    const greeted = { ...modelMessageFormat, decode: () => user("Hello!") };
    expect(copyOf(user("hello"), greeted).message).toEqual(user("Hello!"));
  });

  test("is checked, not what was given: a getter may answer otherwise the second time", () => {
    let answers = 0;
    const given = {
      role: "user",
      get content() {
        return answers++ === 0 ? "first" : 7;
      },
    };
    expect(copyOf(given as never, modelMessageFormat).message).toEqual(user("first"));
  });
});
