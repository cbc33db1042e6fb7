import fc from "fast-check";
import type { LangChain4jMessage } from "../src/langchain4j.ts";
import { base64, id, plain, record, some, text } from "./arbitrary-values.ts";

type Members = Record<string, fc.Arbitrary<unknown>>;
type Build = (required: Members, optional?: Members) => fc.Arbitrary<Record<string, unknown>>;

const url = fc.constantFrom(
  "https://example.org/a%20b.png?x=1#f",
  "",
  "data:image/png;base64,aGk=",
  "u",
  "http://ü/",
);
const attributeValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(-0, 1e21, 1e-7, 123456789012345678901234567890n, 2 ** 53),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom("a/b", "~", "0")), tie("value"), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
})).value;
const attributes = fc.dictionary(fc.oneof(text, fc.constant("thinking_signature")), attributeValue, {
  maxKeys: 3,
  noNullPrototype: true,
});
const file: Members = { url, base64Data: base64, mimeType: text };

function messages(build: Build, isKnown: boolean): fc.Arbitrary<LangChain4jMessage> {
  const content = fc.oneof(
    build({ type: fc.constant("TEXT"), text }),
    build(
      { type: fc.constant("IMAGE"), image: build({}, { ...file, revisedPrompt: text }) },
      { detailLevel: fc.constantFrom("LOW", "MEDIUM", "HIGH", "ULTRA_HIGH", "AUTO") },
    ),
    build({ type: fc.constant("AUDIO") }, { audio: build({}, { ...file, binaryData: base64 }) }),
    build({ type: fc.constant("VIDEO") }, { video: build({}, file) }),
    build({ type: fc.constant("PDF") }, { pdfFile: build({}, file) }),
    fc.constant(null),
    ...(isKnown ? [] : [build({ type: fc.constantFrom("TEXT_FILE", "SMELL") })]),
  );
  const call = fc.oneof(
    { weight: 6, arbitrary: build({}, { id: fc.oneof(id, fc.constant("")), name: text, arguments: text }) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
  const notBlank = text.map((some) => `.${some}`);
  return fc.oneof(
    build({ type: fc.constant("SYSTEM"), text: notBlank }, { attributes }),
    build({ type: fc.constant("USER"), contents: some(content, 1) }, { name: text, attributes }),
    build(
      { type: fc.constant("AI") },
      { text, thinking: text, toolExecutionRequests: some(call), attributes },
    ),
    build(
      { type: fc.constant("TOOL_EXECUTION_RESULT"), contents: some(content, 1) },
      { id, toolName: text, isError: fc.boolean(), attributes },
    ),
    build({ type: fc.constant("CUSTOM") }, { attributes }),
  ) as unknown as fc.Arbitrary<LangChain4jMessage>;
}

/** Every kind of message that the type knows, with members and contents that it does not. */
export const langchain4jMessage: fc.Arbitrary<LangChain4jMessage> = messages(record, false);

/** Every kind of message that the type knows, and nothing else: what LangChain4j's own JSON can hold. */
export const pureLangChain4jMessage: fc.Arbitrary<LangChain4jMessage> = messages(plain, true);
