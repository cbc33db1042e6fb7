import type { ChatMessage } from "../src/openai.ts";
import type { ResponsesItem } from "../src/openai-responses.ts";
import { link, pdf, pdfLink, png, type Samples } from "./sample-values.ts";

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
