import type { ModelMessage } from "@turnkeep/core";
import type { UIMessageLike } from "../src/ai-sdk.ts";
import { link, pdf, png, type Samples } from "./sample-values.ts";

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
