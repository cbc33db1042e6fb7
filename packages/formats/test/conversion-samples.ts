import type { ModelMessage } from "@turnkeep/core";
import type { UIMessageLike } from "../src/ai-sdk.ts";
import type { AnthropicMessage } from "../src/anthropic.ts";
import type { LangChain4jMessage } from "../src/langchain4j.ts";
import type { ChatMessage } from "../src/openai.ts";
import type { ResponsesItem } from "../src/openai-responses.ts";

/** Messages of one kind of part each, by the format and the kind's name in the documents. */
export type Samples<M> = Readonly<Record<string, readonly M[]>>;

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const pdf = "JVBERi0xLjQ=";
const link = "https://example.org/a.png";
const pdfLink = "https://example.org/a.pdf";

function chat(...content: unknown[]): ChatMessage[] {
  return [{ role: "user", content } as ChatMessage];
}

const chatCall: ChatMessage = {
  role: "assistant",
  content: null,
  tool_calls: [{ type: "function", id: "call-1", function: { name: "find", arguments: '{"a":1}' } }],
};

export const openai: Samples<ChatMessage> = {
  "system message": [{ role: "system", content: "Be brief." }],
  "developer message": [{ role: "developer", content: "Be brief." }],
  text: chat({ type: "text", text: "Hello" }, { type: "text", text: "there" }),
  "`name`": [{ role: "user", content: "Hello", name: "Ada" }],
  "`image_url` (data)": chat({ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }),
  "`image_url` (link)": chat({ type: "image_url", image_url: { url: link } }),
  "`image_url.detail`": chat({ type: "image_url", image_url: { url: link, detail: "high" } }),
  "`input_audio`": chat({ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }),
  "`file` (PDF)": chat({
    type: "file",
    file: { file_data: `data:application/pdf;base64,${pdf}`, filename: "a.pdf" },
  }),
  "`file` (`file_id`)": chat({ type: "file", file: { file_id: "file-1" } }),
  "`function` call": [chatCall],
  "`custom` call": [
    {
      role: "assistant",
      tool_calls: [{ type: "custom", id: "call-1", custom: { name: "run", input: "ls" } }],
    },
  ],
  "`function_call`": [
    { role: "assistant", function_call: { name: "find", arguments: "{}" } },
    { role: "function", name: "find", content: "4" },
  ],
  result: [chatCall, { role: "tool", tool_call_id: "call-1", content: "4" }],
  "`reasoning_content`": [{ role: "assistant", content: "4", reasoning_content: "2 + 2" } as ChatMessage],
  "`reasoning_details`": [
    { role: "assistant", content: "4", reasoning_details: [{}] } as unknown as ChatMessage,
  ],
  "`refusal`": [{ role: "assistant", content: null, refusal: "No." }],
  "`audio`": [{ role: "assistant", content: null, audio: { id: "audio-1" } }],
  "unknown part": chat({ type: "video_url", video_url: { url: link } }),
};

const call: ResponsesItem = { type: "function_call", call_id: "call-1", name: "find", arguments: '{"a":1}' };

function input(...content: unknown[]): ResponsesItem[] {
  return [{ role: "user", content } as ResponsesItem];
}

function item(members: object): ResponsesItem {
  return members as ResponsesItem;
}

export const openaiResponses: Samples<ResponsesItem> = {
  "system or developer message": [{ role: "developer", content: "Be brief." }],
  "`input_text`": input({ type: "input_text", text: "Hello" }),
  "`output_text`": [
    item({
      type: "message",
      id: "m",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hello", annotations: [] }],
    }),
  ],
  "`output_text.annotations`": [
    item({
      type: "message",
      id: "m",
      role: "assistant",
      status: "completed",
      content: [
        { type: "output_text", text: "Hello", annotations: [{ type: "file_path", file_id: "f", index: 0 }] },
      ],
    }),
  ],
  "`refusal`": [
    item({
      type: "message",
      id: "m",
      role: "assistant",
      status: "completed",
      content: [{ type: "refusal", refusal: "No." }],
    }),
  ],
  "`input_image` (data)": input({
    type: "input_image",
    image_url: `data:image/png;base64,${png}`,
    detail: "auto",
  }),
  "`input_image` (link)": input({ type: "input_image", image_url: link, detail: "auto" }),
  "`input_image` (`file_id`)": input({ type: "input_image", file_id: "file-1", detail: "auto" }),
  "`input_image.detail`": input({ type: "input_image", image_url: link, detail: "high" }),
  "`input_file` (data)": input({
    type: "input_file",
    file_data: `data:application/pdf;base64,${pdf}`,
    filename: "a.pdf",
  }),
  "`input_file` (link)": input({ type: "input_file", file_url: pdfLink }),
  "`input_file` (`file_id`)": input({ type: "input_file", file_id: "file-1" }),
  "`function_call`": [call],
  "`function_call_output`": [call, { type: "function_call_output", call_id: "call-1", output: "4" }],
  "`function_call_output` (image)": [
    call,
    item({
      type: "function_call_output",
      call_id: "call-1",
      output: [{ type: "input_image", image_url: `data:image/png;base64,${png}` }],
    }),
  ],
  "`custom_tool_call` and its output": [
    { type: "custom_tool_call", call_id: "call-1", name: "run", input: "ls" },
    { type: "custom_tool_call_output", call_id: "call-1", output: "a" },
  ],
  "`reasoning`": [{ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "2 + 2" }] }],
  "`reasoning` (encrypted)": [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "AAAA" }],
  "calls of other kinds, and their outputs": [
    item({ type: "shell_call", call_id: "call-1", action: { commands: ["ls"] } }),
    item({ type: "shell_call_output", call_id: "call-1", output: [] }),
  ],
  "calls that the API runs": [
    item({
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: { type: "search", query: "a" },
    }),
  ],
  "MCP approvals": [
    { type: "mcp_approval_request", id: "mcpr_1", name: "find", arguments: "{}", server_label: "s" },
    { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
  ],
  "`compaction`": [{ type: "compaction", encrypted_content: "AAAA" }],
  "`item_reference`": [{ type: "item_reference", id: "msg_1" }],
};

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

function ui(role: "user" | "assistant", ...parts: unknown[]): UIMessageLike[] {
  return [{ id: "m", role, parts } as UIMessageLike];
}

function tool(members: object): UIMessageLike[] {
  return ui("assistant", { type: "tool-find", toolCallId: "call-1", input: { a: 1 }, ...members });
}

export const aiSdk: Samples<UIMessageLike> = {
  "system message": [{ id: "m", role: "system", parts: [{ type: "text", text: "Be brief." } as never] }],
  "`text`": ui("user", { type: "text", text: "Hello" }),
  "`metadata`": [
    { id: "m", role: "user", metadata: { a: 1 }, parts: [{ type: "text", text: "Hello" } as never] },
  ],
  "`file` (image)": ui("user", { type: "file", mediaType: "image/png", url: `data:image/png;base64,${png}` }),
  "`file` (PDF)": ui("user", {
    type: "file",
    mediaType: "application/pdf",
    filename: "a.pdf",
    url: `data:application/pdf;base64,${pdf}`,
  }),
  "`file` (link)": ui("user", { type: "file", mediaType: "image/png", url: link }),
  "`file` (the model's)": ui("assistant", {
    type: "file",
    mediaType: "image/png",
    url: `data:image/png;base64,${png}`,
  }),
  "`reasoning`": ui("assistant", { type: "reasoning", text: "2 + 2" }),
  "`reasoning` (Anthropic's)": ui("assistant", {
    type: "reasoning",
    text: "2 + 2",
    providerMetadata: { anthropic: { signature: "c2ln" } },
  }),
  "`reasoning` (OpenAI's)": ui("assistant", {
    type: "reasoning",
    text: "2 + 2",
    providerMetadata: { openai: { itemId: "rs_1" } },
  }),
  "`reasoning-file`": ui("assistant", {
    type: "reasoning-file",
    mediaType: "image/png",
    url: `data:image/png;base64,${png}`,
  }),
  call: tool({ state: "input-available" }),
  "call that streams": tool({ state: "input-streaming" }),
  result: tool({ state: "output-available", output: { b: 2 } }),
  error: tool({ state: "output-error", errorText: "No." }),
  approval: tool({ state: "approval-responded", approval: { id: "ok-1", approved: true } }),
  denial: tool({ state: "output-denied", approval: { id: "ok-1", approved: false, reason: "No." } }),
  "call that the provider ran": tool({ state: "output-available", output: { b: 2 }, providerExecuted: true }),
  "`steering-message`": ui(
    "assistant",
    { type: "text", text: "a" },
    { type: "steering-message", id: "s", parts: [{ type: "text", text: "b" }] },
  ),
  "`source-url`, `source-document`": ui("assistant", { type: "source-url", sourceId: "1", url: link }),
  "`data-*`": ui("assistant", { type: "data-weather", data: {} }),
  "`custom`": ui("assistant", {
    type: "custom",
    kind: "openai.compaction",
    providerMetadata: { openai: { itemId: "cmp_1" } },
  }),
};

const modelCall: ModelMessage = {
  role: "assistant",
  content: [{ type: "tool-call", toolCallId: "call-1", toolName: "find", input: { a: 1 } }],
};

function userPart(part: object): ModelMessage[] {
  return [{ role: "user", content: [part] } as ModelMessage];
}

function assistantPart(...parts: object[]): ModelMessage[] {
  return [{ role: "assistant", content: parts } as ModelMessage];
}

function modelResult(output: object): ModelMessage[] {
  const result = { type: "tool-result", toolCallId: "call-1", toolName: "find", output };
  return [modelCall, { role: "tool", content: [result] } as ModelMessage];
}

export const modelMessage: Samples<ModelMessage> = {
  "system message": [{ role: "system", content: "Be brief." }],
  "`text`": userPart({ type: "text", text: "Hello" }),
  "`image` (bytes or base64)": userPart({ type: "image", image: png, mediaType: "image/png" }),
  "`image` (URL)": userPart({ type: "image", image: new URL(link) }),
  "`file` (PDF)": userPart({ type: "file", data: pdf, mediaType: "application/pdf", filename: "a.pdf" }),
  "`file` (text)": userPart({ type: "file", data: { type: "text", text: "Hello" }, mediaType: "text/plain" }),
  "`file` (audio)": userPart({ type: "file", data: "UklGRg==", mediaType: "audio/wav" }),
  "`file` (OpenAI's id)": userPart({
    type: "file",
    data: { type: "reference", reference: { openai: "file-1" } },
    mediaType: "application/pdf",
  }),
  "`file` (Anthropic's id)": userPart({
    type: "file",
    data: { type: "reference", reference: { anthropic: "file_1" } },
    mediaType: "application/pdf",
  }),
  "`file` (the model's)": assistantPart({ type: "file", data: png, mediaType: "image/png" }),
  "`reasoning`": assistantPart({ type: "reasoning", text: "2 + 2" }),
  "`reasoning` (Anthropic's)": assistantPart({
    type: "reasoning",
    text: "2 + 2",
    providerOptions: { anthropic: { signature: "c2ln" } },
  }),
  "`reasoning` (OpenAI's)": assistantPart({
    type: "reasoning",
    text: "2 + 2",
    providerOptions: { openai: { itemId: "rs_1" } },
  }),
  "`reasoning-file`": assistantPart({ type: "reasoning-file", data: png, mediaType: "image/png" }),
  "`tool-call`": [modelCall],
  "`tool-call` (input is no object)": assistantPart({
    type: "tool-call",
    toolCallId: "call-1",
    toolName: "find",
    input: "a",
  }),
  "`tool-result` (text, JSON)": modelResult({ type: "json", value: { b: 2 } }),
  "`tool-result` (error)": modelResult({ type: "error-text", value: "No." }),
  "`tool-result` (denied)": modelResult({ type: "execution-denied", reason: "No." }),
  "`tool-result` (image)": modelResult({
    type: "content",
    value: [{ type: "image-data", data: png, mediaType: "image/png" }],
  }),
  "calls that the provider ran": assistantPart(
    { type: "tool-call", toolCallId: "call-1", toolName: "find", input: {}, providerExecuted: true },
    { type: "tool-result", toolCallId: "call-1", toolName: "find", output: { type: "text", value: "4" } },
  ),
  approvals: [
    ...assistantPart(
      { type: "tool-call", toolCallId: "call-1", toolName: "find", input: {} },
      { type: "tool-approval-request", approvalId: "ok-1", toolCallId: "call-1" },
    ),
    { role: "tool", content: [{ type: "tool-approval-response", approvalId: "ok-1", approved: true }] },
  ],
  "`custom`": assistantPart({
    type: "custom",
    kind: "openai.compaction",
    providerOptions: { openai: { itemId: "cmp_1" } },
  }),
  "`anthropic.cacheControl` of a part": userPart({
    type: "text",
    text: "Hello",
    providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
  }),
  "`providerOptions` of a message": [
    {
      role: "user",
      content: "Hello",
      providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
    },
  ],
};

function contents(content: object): LangChain4jMessage[] {
  return [{ type: "USER", contents: [content] } as LangChain4jMessage];
}

const request = { id: "call-1", name: "find", arguments: '{"a":1}' };

export const langchain4j: Samples<LangChain4jMessage> = {
  "`SYSTEM`": [{ type: "SYSTEM", text: "Be brief." }],
  "`TEXT`": contents({ type: "TEXT", text: "Hello" }),
  "`name`": [{ type: "USER", name: "Ada", contents: [{ type: "TEXT", text: "Hello" }] }],
  "`attributes`": [{ type: "USER", attributes: { a: 1 }, contents: [{ type: "TEXT", text: "Hello" }] }],
  "`IMAGE` (base64)": contents({ type: "IMAGE", image: { base64Data: png, mimeType: "image/png" } }),
  "`IMAGE` (url)": contents({ type: "IMAGE", image: { url: link } }),
  "`IMAGE.detailLevel`": contents({ type: "IMAGE", image: { url: link }, detailLevel: "HIGH" }),
  "`AUDIO`": contents({ type: "AUDIO", audio: { base64Data: "UklGRg==", mimeType: "audio/wav" } }),
  "`VIDEO`": contents({ type: "VIDEO", video: { base64Data: "AAAA", mimeType: "video/mp4" } }),
  "`PDF` (base64)": contents({ type: "PDF", pdfFile: { base64Data: pdf } }),
  "`PDF` (url)": contents({ type: "PDF", pdfFile: { url: pdfLink } }),
  answer: [{ type: "AI", text: "Hello" }],
  "`thinking`": [{ type: "AI", text: "4", thinking: "2 + 2" }],
  call: [{ type: "AI", toolExecutionRequests: [request] }],
  result: [
    { type: "AI", toolExecutionRequests: [request] },
    {
      type: "TOOL_EXECUTION_RESULT",
      id: "call-1",
      toolName: "find",
      contents: [{ type: "TEXT", text: "4" }],
    },
  ],
  "`isError`": [
    { type: "AI", toolExecutionRequests: [request] },
    {
      type: "TOOL_EXECUTION_RESULT",
      id: "call-1",
      toolName: "find",
      isError: true,
      contents: [{ type: "TEXT", text: "4" }],
    },
  ],
  "`CUSTOM`": [{ type: "CUSTOM", attributes: { a: 1 } }],
};

/** By the name that {@link conversions} give the formats. */
export const samples: Readonly<Record<string, Samples<unknown>>> = {
  ModelMessage: modelMessage,
  UIMessage: aiSdk,
  OpenAI: openai,
  Responses: openaiResponses,
  Anthropic: anthropic,
  LangChain4j: langchain4j,
};
