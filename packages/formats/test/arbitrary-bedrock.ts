import fc from "fast-check";
import type { BedrockMessage } from "../src/bedrock.ts";
import { base64, id, json, record, some, text } from "./arbitrary-values.ts";

const name = fc.constantFrom("find", "weather");
const input = fc.dictionary(fc.constantFrom("a", "b"), json, { maxKeys: 2, noNullPrototype: true });
/** Bytes as the SDK has them, and base64 as it stands on the wire. */
const bytes = fc.oneof(fc.uint8Array({ maxLength: 6 }), base64);
const source = fc.oneof(
  record({ bytes }),
  record({ s3Location: record({ uri: fc.constant("s3://bucket/a") }) }),
);
const media = (format: fc.Arbitrary<string>): fc.Arbitrary<object> => record({ format, source });

const textBlock = record({ text });
const image = record({ image: media(fc.constantFrom("png", "gif")) });
const video = record({ video: media(fc.constantFrom("mp4", "three_gp")) });
const document = record({
  document: record(
    {
      name: fc.constantFrom("a", "report"),
      source: fc.oneof(source, record({ text }), record({ content: some(textBlock, 1) })),
    },
    { format: fc.constantFrom("pdf", "txt"), context: text },
  ),
});
const searchResult = record({
  searchResult: record({ source: text, title: text, content: some(textBlock) }),
});
const nested = fc.oneof(textBlock, record({ json: input }), image, video, document, searchResult);

export const kindsOfBlock: Readonly<Record<string, fc.Arbitrary<object>>> = {
  text: textBlock,
  image,
  video,
  document,
  searchResult,
  audio: record({ audio: media(fc.constantFrom("mp3", "wav")) }),
  guardContent: record({
    guardContent: fc.oneof(
      record({ text: record({ text }, { qualifiers: fc.constant(["query"]) }) }),
      record({ image: media(fc.constant("png")) }),
    ),
  }),
  cachePoint: record({ cachePoint: record({ type: fc.constant("default") }) }),
  toolUse: record({ toolUse: record({ toolUseId: id, name, input }) }),
  serverToolUse: record({
    toolUse: record({ toolUseId: fc.constant("srv_1"), name, input, type: fc.constant("server_tool_use") }),
  }),
  serverToolResult: record({
    toolResult: record({
      toolUseId: fc.constant("srv_1"),
      content: some(nested),
      type: fc.constant("found"),
    }),
  }),
  toolResult: record({
    toolResult: record(
      { toolUseId: id, content: some(nested) },
      { status: fc.constantFrom("success", "error") },
    ),
  }),
  reasoningContent: record({
    reasoningContent: fc.oneof(
      record({ reasoningText: record({ text }, { signature: fc.constantFrom("c2ln", "c2lnMg==") }) }),
      record({ redactedContent: fc.uint8Array({ minLength: 1, maxLength: 6 }) }),
    ),
  }),
  citationsContent: record({
    citationsContent: record({ content: some(textBlock, 1) }, { citations: fc.constant([{ title: "a" }]) }),
  }),
  toolAddition: record({ toolAddition: record({ tool: record({ name }) }) }),
};

const isOfUser = (kind: string): boolean =>
  !["toolUse", "serverToolUse", "serverToolResult", "reasoningContent", "citationsContent"].includes(kind);
const isOfAssistant = (kind: string): boolean => kind !== "toolResult";

function messageOf(role: string, fits: (kind: string) => boolean): fc.Arbitrary<BedrockMessage> {
  const blocks = Object.entries(kindsOfBlock).flatMap(([kind, block]) => (fits(kind) ? [block] : []));
  return record({
    role: fc.constant(role),
    content: some(fc.oneof(...blocks)),
  }) as object as fc.Arbitrary<BedrockMessage>;
}

export const bedrockMessage: fc.Arbitrary<BedrockMessage> = fc.oneof(
  { weight: 4, arbitrary: messageOf("user", isOfUser) },
  { weight: 4, arbitrary: messageOf("assistant", isOfAssistant) },
  { weight: 2, arbitrary: messageOf("user", (kind) => kind === "toolResult") },
  {
    weight: 1,
    arbitrary: messageOf("system", (kind) => ["text", "guardContent", "cachePoint"].includes(kind)),
  },
);

export const messageOfEachBlock: readonly (readonly [string, fc.Arbitrary<BedrockMessage>])[] =
  Object.entries(kindsOfBlock).map(([kind, block]) => [
    kind,
    record({
      role: fc.constant(isOfUser(kind) ? "user" : "assistant"),
      content: some(block, 1),
    }) as object as fc.Arbitrary<BedrockMessage>,
  ]);
