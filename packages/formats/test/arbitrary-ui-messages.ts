import fc from "fast-check";
import type { UIMessageLike } from "../src/ai-sdk.ts";
import { id, json, plain, record, some, text } from "./arbitrary-values.ts";

type Members = Record<string, fc.Arbitrary<unknown>>;
type Build = (required: Members, optional?: Members) => fc.Arbitrary<Record<string, unknown>>;

const url = fc.constantFrom(
  "https://example.org/a.png",
  "data:image/png;base64,aGk=",
  "data:text/plain,a%20b",
);
const mediaType = fc.constantFrom("image/png", "application/pdf", "audio");
const providerMetadata = fc.dictionary(
  fc.constantFrom("anthropic", "openai"),
  plain({}, { itemId: text, signature: text, type: fc.constantFrom("compaction", "other") }),
  { maxKeys: 2, noNullPrototype: true },
);
const is = <T>(value: T): fc.Arbitrary<T> => fc.constant(value);

function tools(build: Build, inputs: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> {
  const approval = (more: Members, optional: Members = {}) =>
    build(
      { id: fc.constantFrom("ok-1", "ok-2"), ...more },
      { descriptor: inputs, signature: text, ...optional },
    );
  const kinds: [state: string, required: Members, optional?: Members][] = [
    ["input-streaming", {}, { input: inputs, rawInput: text }],
    ["input-available", { input: inputs }],
    ["approval-requested", { input: inputs, approval: approval({}) }],
    [
      "approval-responded",
      { input: inputs, approval: approval({ approved: fc.boolean() }, { reason: text }) },
    ],
    [
      "output-available",
      { input: inputs, output: inputs },
      {
        preliminary: fc.boolean(),
        resultProviderMetadata: providerMetadata,
        approval: approval({ approved: is(true) }),
      },
    ],
    [
      "output-error",
      { errorText: text },
      { input: inputs, rawInput: inputs, resultProviderMetadata: providerMetadata },
    ],
    ["output-denied", { input: inputs, approval: approval({ approved: is(false) }, { reason: text }) }],
  ];
  const shared: Members = {
    title: text,
    toolMetadata: plain({}, { mcp: text }),
    providerExecuted: fc.boolean(),
    callProviderMetadata: providerMetadata,
  };
  return fc.oneof(
    ...kinds.flatMap(([state, required, optional]) => [
      build(
        { type: fc.constantFrom("tool-weather", "tool-a-b"), toolCallId: id, state: is(state), ...required },
        { ...shared, ...optional },
      ),
      build(
        {
          type: is("dynamic-tool"),
          toolName: fc.constantFrom("search", "ü"),
          toolCallId: id,
          state: is(state),
          ...required,
        },
        { ...shared, ...optional },
      ),
    ]),
  );
}

const partsOfBoth = (build: Build): fc.Arbitrary<Record<string, unknown>>[] => [
  build({ type: is("text"), text }, { state: fc.constantFrom("streaming", "done"), providerMetadata }),
  build(
    { type: is("reasoning"), text },
    { id: text, state: fc.constantFrom("streaming", "done"), providerMetadata },
  ),
  build({ type: is("file"), mediaType, url }, { filename: text, providerMetadata }),
  build({ type: is("source-url"), sourceId: text, url: text }, { title: text, providerMetadata }),
  build({ type: is("source-document"), sourceId: text, mediaType, title: text }, { filename: text }),
  build({ type: is("step-start") }),
  build({ type: fc.constantFrom("data-weather", "data-"), data: json }, { id: text }),
];

const partsOf7 = (build: Build): fc.Arbitrary<Record<string, unknown>>[] => [
  build({ type: is("custom"), kind: fc.constantFrom("openai.compaction", "xai.note") }, { providerMetadata }),
  build({ type: is("reasoning-file"), mediaType, url }, { providerMetadata }),
  build({
    type: is("steering-message"),
    id: text,
    parts: some(fc.oneof(build({ type: is("text"), text }), build({ type: is("file"), mediaType, url }))),
  }),
];

function messages(build: Build, part: fc.Arbitrary<unknown>): fc.Arbitrary<UIMessageLike> {
  return build(
    {
      id: text,
      role: fc.constantFrom("system", "user", "assistant"),
      parts: fc.array(part, { maxLength: 8 }),
    },
    { metadata: fc.oneof(json, is(new Date(0))) },
  ) as fc.Arbitrary<unknown> as fc.Arbitrary<UIMessageLike>;
}

/** Every kind of part that major 6 or 7 knows, in every state, with members and kinds of parts that neither knows. */
export const uiMessage: fc.Arbitrary<UIMessageLike> = messages(
  record,
  fc.oneof(
    ...partsOfBoth(record),
    ...partsOf7(record),
    { weight: 6, arbitrary: tools(record, json) },
    record({ type: fc.constantFrom("hologram", "tool") }),
  ),
);

/** Messages as the SDK makes them: `major` decides which parts there are. */
export function sdkMessage(major: 6 | 7): fc.Arbitrary<UIMessageLike> {
  const inputs = fc.jsonValue({ maxDepth: 2 });
  const parts = [...partsOfBoth(plain), ...(major === 7 ? partsOf7(plain) : [])];
  return messages(plain, fc.oneof(...parts, { weight: 5, arbitrary: tools(plain, inputs) }));
}
