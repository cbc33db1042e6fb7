import fc from "fast-check";
import type { ChatMessage } from "../src/openai.ts";

/** Any text, with what breaks careless encoders: U+0000, lone surrogates, direction marks. */
const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("\u0000", "\ud800", "a\udc00b", "\ufeff", "\u202e", "__proto__", "<|endoftext|>"),
);
const id: fc.Arbitrary<string> = fc.constantFrom("call_1", "call_2", "call_3", "call_ü");
/** What the API's types do not name must come back all the same. */
const unknownMembers: fc.Arbitrary<Record<string, unknown>> = fc.dictionary(
  fc.constantFrom("x_vendor", "annotations", "parsed", "__proto__", "$turnkeep"),
  fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(-0, 1.7976931348623157e308, 0.1 + 0.2)),
  { maxKeys: 2, noNullPrototype: true },
);

function record<T extends object>(
  members: { [K in keyof T]: fc.Arbitrary<T[K]> },
  required: (keyof T & string)[],
): fc.Arbitrary<T> {
  return fc.tuple(plain(members, required), unknownMembers).map(([own, more]) => {
    const copy = { ...own };
    for (const [key, value] of Object.entries(more)) {
      Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return copy;
  });
}

/** Plain objects, as JSON and literals give them. */
function plain<T extends object>(
  members: { [K in keyof T]: fc.Arbitrary<T[K]> },
  required: (keyof T & string)[] = Object.keys(members) as (keyof T & string)[],
): fc.Arbitrary<T> {
  return fc.record(members, { requiredKeys: required, noNullPrototype: true } as object) as fc.Arbitrary<T>;
}

const base64 = fc.constantFrom("", "aGk=", "aGVsbG8gd29ybGQ=");
const breakpoint = plain({ mode: fc.constant("explicit"), ttl: fc.constantFrom("30m", "12h") });
const textPart = record({ type: fc.constant("text"), text, prompt_cache_breakpoint: breakpoint }, [
  "type",
  "text",
]);
const refusalPart = record({ type: fc.constant("refusal"), refusal: text }, ["type", "refusal"]);
const url = fc.oneof(
  fc.constantFrom(
    "https://example.org/a.png",
    "data:image/png;base64,aGk=",
    "data:,a%20b",
    "",
    "data:broken",
  ),
  text,
);
const imagePart = record(
  {
    type: fc.constant("image_url"),
    image_url: plain({ url, detail: fc.constantFrom("auto", "low", "high", "original") }, ["url"]),
  },
  ["type", "image_url"],
);
const audioPart = record(
  {
    type: fc.constant("input_audio"),
    input_audio: plain({ data: base64, format: fc.constantFrom("wav", "mp3") }),
  },
  ["type", "input_audio"],
);
const filePart = record(
  {
    type: fc.constant("file"),
    file: plain({ file_data: base64, file_id: text, filename: text }, []),
  },
  ["type", "file"],
);
const unknownPart = record({ type: fc.constantFrom("video_url", "thinking") }, ["type"]);

const functionCall = record(
  { type: fc.constant("function"), id, function: plain({ name: text, arguments: text }) },
  ["type", "id", "function"],
);
const customCall = record({ type: fc.constant("custom"), id, custom: plain({ name: text, input: text }) }, [
  "type",
  "id",
  "custom",
]);
const unknownCall = record({ type: fc.constant("browser"), id }, ["type", "id"]);
const some = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(of, { maxLength: 4 });
const texts = fc.oneof(text, some(fc.oneof(textPart, unknownPart)));

const system = record({ role: fc.constantFrom("system", "developer"), content: texts, name: text }, [
  "role",
  "content",
]);
const user = record(
  {
    role: fc.constant("user"),
    content: fc.oneof(text, some(fc.oneof(textPart, imagePart, audioPart, filePart, unknownPart))),
    name: text,
  },
  ["role", "content"],
);
const assistant = record(
  {
    role: fc.constant("assistant"),
    content: fc.oneof(fc.constant(null), text, some(fc.oneof(textPart, refusalPart, unknownPart))),
    name: text,
    refusal: fc.oneof(fc.constant(null), text),
    audio: fc.oneof(fc.constant(null), plain({ id: text })),
    tool_calls: some(fc.oneof(functionCall, customCall, unknownCall)),
    function_call: fc.oneof(
      fc.constant(null),
      plain({ name: fc.string({ minLength: 1, maxLength: 5 }), arguments: text }),
    ),
    reasoning_content: fc.oneof(fc.constant(null), text),
  },
  ["role"],
);
const tool = record({ role: fc.constant("tool"), content: texts, tool_call_id: id }, [
  "role",
  "content",
  "tool_call_id",
]);
const legacyResult = record(
  {
    role: fc.constant("function"),
    content: fc.oneof(fc.constant(null), text),
    name: fc.string({ minLength: 1, maxLength: 5 }),
  },
  ["role", "content", "name"],
);

/** Every kind of message that the type knows, and some that it does not. */
export const chatMessage: fc.Arbitrary<ChatMessage> = fc.oneof(
  system,
  user,
  assistant,
  tool,
  legacyResult,
) as fc.Arbitrary<ChatMessage>;
