import type { BedrockMessage } from "../src/bedrock.ts";
import { pdf, png, type Samples } from "./sample-values.ts";

function blocks(role: "user" | "assistant", ...content: object[]): BedrockMessage[] {
  return [{ role, content: content as BedrockMessage["content"] }];
}

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));

const use = { toolUse: { toolUseId: "call-1", name: "find", input: { a: 1 } } };

function toolResult(content: object[], members: object = {}): BedrockMessage[] {
  return [
    ...blocks("assistant", use),
    ...blocks("user", { toolResult: { toolUseId: "call-1", content, ...members } }),
  ];
}

const image = { image: { format: "png", source: { bytes: bytesOf(png) } } };

export const bedrock: Samples<BedrockMessage> = {
  "system message": [{ role: "system", content: [{ text: "Be brief." }] }],
  "`text`": blocks("user", { text: "Hello" }),
  "`cachePoint`": blocks("user", { text: "Hello" }, { cachePoint: { type: "default" } }),
  "`image` (bytes)": blocks("user", image),
  "`image` (S3)": blocks("user", {
    image: { format: "png", source: { s3Location: { uri: "s3://bucket/a.png" } } },
  }),
  "`document` (PDF)": blocks(
    "user",
    { text: "Read this." },
    { document: { format: "pdf", name: "a", source: { bytes: bytesOf(pdf) } } },
  ),
  "`document` (text)": blocks("user", { document: { format: "txt", name: "a", source: { text: "Hello" } } }),
  "`document` (content)": blocks("user", {
    document: { name: "a", source: { content: [{ text: "Hello" }] } },
  }),
  "`document.context`": blocks("user", {
    document: { format: "pdf", name: "a", context: "a", source: { bytes: bytesOf(pdf) } },
  }),
  "`video`": blocks("user", { video: { format: "mp4", source: { bytes: bytesOf("AAAA") } } }),
  "`audio`": blocks("user", { audio: { format: "mp3", source: { bytes: bytesOf("AAAA") } } }),
  "`reasoningContent`": blocks("assistant", {
    reasoningContent: { reasoningText: { text: "2 + 2", signature: "c2ln" } },
  }),
  "`reasoningContent` without a signature": blocks("assistant", {
    reasoningContent: { reasoningText: { text: "2 + 2" } },
  }),
  "`reasoningContent` (redacted)": blocks("assistant", {
    reasoningContent: { redactedContent: bytesOf("AAAA") },
  }),
  "`toolUse`": blocks("assistant", use),
  "`toolResult`": toolResult([{ text: "4" }]),
  "`toolResult` (JSON)": toolResult([{ json: { sum: 4 } }]),
  "`toolResult` (image)": toolResult([{ text: "4" }, image]),
  "`toolResult.status` (error)": toolResult([{ text: "4" }], { status: "error" }),
  "calls that the API runs, and their results": blocks(
    "assistant",
    { toolUse: { toolUseId: "srv-1", name: "search", input: {}, type: "server_tool_use" } },
    { toolResult: { toolUseId: "srv-1", content: [{ text: "4" }], type: "search_result" } },
  ),
  "`guardContent`": blocks("user", { guardContent: { text: { text: "Hello", qualifiers: ["query"] } } }),
  "`citationsContent`": blocks("assistant", {
    citationsContent: { content: [{ text: "Hello" }], citations: [{ title: "a" }] },
  }),
  "`searchResult`": blocks("user", {
    searchResult: { source: "a", title: "b", content: [{ text: "Hello" }] },
  }),
};
