import type { ModelMessageLike } from "@turnkeep/core";
import fc from "fast-check";
import { base64, id, json, plain, record, some, text } from "./arbitrary-values.ts";

const is = <T>(value: T): fc.Arbitrary<T> => fc.constant(value);
const providerOptions = fc.dictionary(
  fc.constantFrom("anthropic", "openai"),
  plain(
    {},
    {
      cacheControl: is({ type: "ephemeral" }),
      signature: text,
      redactedData: text,
      imageDetail: fc.constantFrom("low", "high", "auto"),
      itemId: text,
      reasoningEncryptedContent: text,
    },
  ),
  { maxKeys: 2, noNullPrototype: true },
);
const part = (required: Record<string, fc.Arbitrary<unknown>>, optional = {}) =>
  record(required, { providerOptions, ...optional });

const url = fc.constantFrom(
  "https://example.org/a.png",
  "data:image/png;base64,aGk=",
  "data:application/pdf;base64,JVBERi0=",
);
const urlObject = url.map((of) => new URL(of));
const bytes = fc.uint8Array({ maxLength: 8 });
const reference = fc.dictionary(fc.constantFrom("openai", "anthropic", "google"), text, {
  maxKeys: 2,
  noNullPrototype: true,
});
const fileData = fc.oneof(
  plain({ type: is("data"), data: fc.oneof(base64, bytes) }),
  plain({ type: is("url"), url: urlObject }),
  plain({ type: is("reference"), reference }),
  plain({ type: is("text"), text }),
);
const data = fc.oneof(base64, bytes, urlObject, reference, fileData, url);
const mediaType = fc.constantFrom(
  "image/png",
  "image/*",
  "application/pdf",
  "text/plain",
  "audio/wav",
  "audio",
  "video/mp4",
  "",
);

const textPart = part({ type: is("text"), text });
const image = part({ type: is("image"), image: data }, { mediaType });
const file = part({ type: is("file"), data, mediaType }, { filename: text });
const unknown = record({ type: fc.constantFrom("hologram", "") }, { body: json });

const content = fc.oneof(
  textPart,
  part({ type: is("file"), data: fileData, mediaType }, { filename: text }),
  part({ type: is("file-data"), data: base64, mediaType }, { filename: text }),
  part({ type: is("image-data"), data: base64, mediaType }),
  part({ type: is("file-url"), url }, { mediaType }),
  part({ type: is("image-url"), url }),
  part({ type: fc.constantFrom("file-id", "image-file-id"), fileId: fc.oneof(text, reference) }),
  part({ type: fc.constantFrom("file-reference", "image-file-reference"), providerReference: reference }),
  part({ type: is("custom") }),
);
const output = fc.oneof(
  part({ type: fc.constantFrom("text", "error-text"), value: text }),
  part({ type: fc.constantFrom("json", "error-json"), value: json }),
  part({ type: is("execution-denied") }, { reason: text }),
  part({ type: is("content"), value: some(content) }),
);
const toolName = fc.constantFrom("find", "weather", "");
const call = part(
  { type: is("tool-call"), toolCallId: id, toolName, input: json },
  { providerExecuted: fc.boolean() },
);
const result = part({ type: is("tool-result"), toolCallId: id, toolName, output });
const approvalId = fc.constantFrom("ok-1", "ok-2");

const assistantPart = fc.oneof(
  textPart,
  file,
  part({ type: is("reasoning"), text }),
  part({ type: is("reasoning-file"), data, mediaType }),
  part({ type: is("custom"), kind: fc.constantFrom("openai.compaction", "xai.note") }),
  call,
  result,
  record(
    { type: is("tool-approval-request"), approvalId, toolCallId: id },
    { reason: text, signature: text },
  ),
  unknown,
);
const toolPart = fc.oneof(
  result,
  record(
    { type: is("tool-approval-response"), approvalId, approved: fc.boolean() },
    { reason: text, providerExecuted: fc.boolean() },
  ),
  unknown,
);

/** Messages of the default format, of every kind of part, with members and kinds that it does not know. */
export const modelMessage: fc.Arbitrary<ModelMessageLike> = fc.oneof(
  part({ role: is("system"), content: text }),
  part({ role: is("user"), content: fc.oneof(text, some(fc.oneof(textPart, image, file, unknown))) }),
  part({ role: is("assistant"), content: fc.oneof(text, some(assistantPart)) }),
  part({ role: is("tool"), content: some(toolPart) }),
) as fc.Arbitrary<unknown> as fc.Arbitrary<ModelMessageLike>;
