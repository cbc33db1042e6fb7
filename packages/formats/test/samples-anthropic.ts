import type { AnthropicMessage } from "../src/anthropic.ts";
import { link, pdf, pdfLink, png, type Samples } from "./sample-values.ts";

function blocks(role: "user" | "assistant", ...content: unknown[]): AnthropicMessage[] {
  return [{ role, content } as AnthropicMessage];
}

const use = { type: "tool_use", id: "call-1", name: "find", input: { a: 1 } };

function toolResult(members: object): AnthropicMessage[] {
  return [
    ...blocks("assistant", use),
    ...blocks("user", { type: "tool_result", tool_use_id: "call-1", ...members }),
  ];
}

export const anthropic: Samples<AnthropicMessage> = {
  "system message": [{ role: "system", content: "Be brief." }],
  text: blocks("user", { type: "text", text: "Hello" }),
  "`cache_control`": blocks("user", { type: "text", text: "Hello", cache_control: { type: "ephemeral" } }),
  "`text.citations`": blocks("assistant", {
    type: "text",
    text: "Hello",
    citations: [{ type: "char_location" }],
  }),
  "`image` (base64)": blocks("user", {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: png },
  }),
  "`image` (url)": blocks("user", { type: "image", source: { type: "url", url: link } }),
  "`image` (file)": blocks("user", { type: "image", source: { type: "file", file_id: "file_1" } }),
  "`document` (PDF)": blocks("user", {
    type: "document",
    title: "a.pdf",
    source: { type: "base64", media_type: "application/pdf", data: pdf },
  }),
  "`document` (url)": blocks("user", { type: "document", source: { type: "url", url: pdfLink } }),
  "`document` (text)": blocks("user", {
    type: "document",
    source: { type: "text", media_type: "text/plain", data: "Hello" },
  }),
  "`document` (content)": blocks("user", {
    type: "document",
    source: { type: "content", content: [{ type: "text", text: "Hello" }] },
  }),
  "`document.context`": blocks("user", {
    type: "document",
    context: "a",
    source: { type: "base64", media_type: "application/pdf", data: pdf },
  }),
  "`search_result`": blocks("user", {
    type: "search_result",
    title: "a",
    source: "b",
    content: [{ type: "text", text: "Hello" }],
  }),
  "`thinking`": blocks("assistant", { type: "thinking", thinking: "2 + 2", signature: "c2ln" }),
  "`redacted_thinking`": blocks("assistant", { type: "redacted_thinking", data: "AAAA" }),
  "`tool_use`": blocks("assistant", use),
  "`tool_result`": toolResult({ content: "4" }),
  "`tool_result` (image)": toolResult({
    content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: png } }],
  }),
  "`tool_result.is_error`": toolResult({ content: "4", is_error: true }),
  "calls that the API runs, and their results": blocks(
    "assistant",
    { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} },
    { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] },
  ),
  "`compaction`": blocks("assistant", { type: "compaction", content: "So far." }),
  "`container_upload`": blocks("user", { type: "container_upload", file_id: "file_1" }),
};
