import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  HumanMessageChunk,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";

/** An image of one pixel. */
const image =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const search = { type: "tool_call" as const, id: "call-1", name: "search", args: { q: "fjord", n: 3 } };
const weather = { type: "tool_call" as const, id: "call-2", name: "weather", args: { city: "Oslo" } };

/** Every kind of message, with all that each can hold. */
export const samples = (): Record<string, BaseMessage> => ({
  text: new HumanMessage("What is a fjord?"),
  named: new HumanMessage({ content: "I am Ann.", name: "ann", id: "human-1" }),
  system: new SystemMessage("You are brief."),
  developer: new SystemMessage({
    content: "You are brief.",
    additional_kwargs: { __openai_role__: "developer" },
  }),
  media: new HumanMessage({
    content: [
      { type: "text", text: "What is this?" },
      { type: "image", mimeType: "image/png", data: image },
      { type: "image_url", image_url: { url: `data:image/png;base64,${image}`, detail: "low" } },
      { type: "image", source_type: "url", url: "https://example.com/one.png", mime_type: "image/png" },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
      { type: "file", mimeType: "application/pdf", data: "JVBERi0=", filename: "one.pdf" },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } },
      { type: "text-plain", mimeType: "text/plain", text: "A fjord is deep." },
      { type: "image", mimeType: "image/png", data: new Uint8Array([1, 2, 3]) },
    ] as never,
  }),
  answer: new AIMessage({
    content: "A long, narrow inlet.",
    id: "run-1",
    response_metadata: { model_name: "some-model", finish_reason: "stop", output: [{ type: "message" }] },
    usage_metadata: {
      input_tokens: 12,
      output_tokens: 7,
      total_tokens: 19,
      input_token_details: { cache_read: 4 },
    },
  } as never),
  calls: new AIMessage({
    content: "I look.",
    id: "run-2",
    tool_calls: [search, weather],
    additional_kwargs: {
      reasoning_content: "Two tools.",
      tool_calls: [
        { id: "call-1", type: "function", function: { name: "search", arguments: '{"q":"fjord","n":3}' } },
        { id: "call-2", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
      ],
    },
  }),
  invalid: new AIMessage({
    content: "",
    invalid_tool_calls: [
      { type: "invalid_tool_call", id: "call-3", name: "search", args: "{", error: "Malformed args." },
    ],
  }),
  anthropic: new AIMessage({
    content: [
      { type: "thinking", thinking: "The tool knows.", signature: "c2lnbmVk" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "call-1", name: "search", input: { q: "fjord", n: 3 } },
    ],
    tool_calls: [search],
  }),
  provider: new AIMessage({
    content: [
      { type: "server_tool_use", id: "srv-1", name: "web_search", input: { query: "fjord" } },
      { type: "web_search_tool_result", tool_use_id: "srv-1", content: [{ type: "web_search_result" }] },
      { type: "redacted_thinking", data: "c2VhbGVk" },
      { type: "text", text: "It is an inlet." },
    ],
  }),
  v1: new AIMessage({
    contentBlocks: [
      { type: "reasoning", reasoning: "The tool knows." },
      { type: "text", text: "I look." },
      { type: "tool_call", id: "call-1", name: "search", args: { q: "fjord", n: 3 } },
      { type: "non_standard", value: { anything: true } },
    ],
  } as never),
  v1Provider: new AIMessage({
    content: [
      { type: "server_tool_call", id: "srv-2", name: "code", args: { code: "1 + 1" } },
      { type: "server_tool_call_result", toolCallId: "srv-2", status: "success", output: { value: 2 } },
      { type: "refusal", refusal: "I must not say more." },
    ] as never,
  }),
  chunk: new AIMessageChunk({
    content: "I look.",
    id: "run-3",
    tool_call_chunks: [
      { type: "tool_call_chunk", id: "call-1", name: "search", args: '{"q":"fjord"}', index: 0 },
    ],
  }),
  humanChunk: new HumanMessageChunk("Hel"),
  result: new ToolMessage({ content: "4 °C", tool_call_id: "call-2", name: "weather", id: "tool-1" }),
  failed: new ToolMessage({ content: "No such city.", tool_call_id: "call-2", status: "error" }),
  artifact: new ToolMessage({
    content: [
      { type: "text", text: "One document." },
      { type: "image", mimeType: "image/png", data: image },
    ] as never,
    tool_call_id: "call-1",
    artifact: { rows: [1, 2] },
  }),
  generic: new ChatMessage("As the critic: too long.", "critic"),
  functionCall: new AIMessage({
    content: "",
    additional_kwargs: { function_call: { name: "weather", arguments: '{"city":"Oslo"}' } },
  }),
  functionResult: new FunctionMessage({ content: "4 °C", name: "weather" }),
  strange: new HumanMessage({
    content: "\u0000 \ud800 text",
    additional_kwargs: { big: 12345678901234567890n as never, nothing: null, minus: -0 },
  }),
});

/** What JSON alone would not bring back as it was. */
export const withDocument = (): ToolMessage =>
  new ToolMessage({
    content: "One document.",
    tool_call_id: "call-1",
    artifact: [new Document({ pageContent: "A fjord is deep.", metadata: { page: 3, at: new Date(0) } })],
  });
