import fc from "fast-check";
import type { AnthropicBlock, AnthropicCitations, AnthropicMessage } from "../src/anthropic.ts";
import { base64, count, id, json, orNull, plain, shape, some, text, url } from "./arbitrary.ts";

const cache_control = orNull(plain({ type: fc.constant("ephemeral") }, { ttl: fc.constantFrom("5m", "1h") }));
const cited = { cited_text: text, document_index: count, document_title: orNull(text) };

const citations: { [Type in AnthropicCitations["type"]]: fc.Arbitrary<AnthropicCitations & { type: Type }> } =
  {
    char_location: shape({
      type: fc.constant("char_location"),
      ...cited,
      start_char_index: count,
      end_char_index: count,
    }),
    page_location: shape({
      type: fc.constant("page_location"),
      ...cited,
      start_page_number: count,
      end_page_number: count,
    }),
    content_block_location: shape({
      type: fc.constant("content_block_location"),
      ...cited,
      start_block_index: count,
      end_block_index: count,
    }),
    web_search_result_location: shape({
      type: fc.constant("web_search_result_location"),
      cited_text: text,
      encrypted_index: text,
      title: orNull(text),
      url,
    }),
    search_result_location: shape({
      type: fc.constant("search_result_location"),
      cited_text: text,
      search_result_index: count,
      source: text,
      title: orNull(text),
      start_block_index: count,
      end_block_index: count,
    }),
  };

const textBlock = shape(
  { type: fc.constant("text"), text },
  { cache_control, citations: orNull(some(fc.oneof(...Object.values(citations)))) },
);
const imageBlock = shape(
  {
    type: fc.constant("image"),
    source: fc.oneof(
      shape({
        type: fc.constant("base64"),
        media_type: fc.constantFrom("image/jpeg", "image/png", "image/gif", "image/webp"),
        data: base64,
      }),
      shape({ type: fc.constant("url"), url }),
      shape({ type: fc.constant("file"), file_id: text }),
    ),
  },
  {
    cache_control,
    transformations: orNull(plain({}, { oversized_image: fc.constantFrom("downsize", "error") })),
  },
);
const documentBlock = shape(
  {
    type: fc.constant("document"),
    source: fc.oneof(
      shape({ type: fc.constant("base64"), media_type: fc.constant("application/pdf"), data: base64 }),
      shape({ type: fc.constant("text"), media_type: fc.constant("text/plain"), data: text }),
      shape({
        type: fc.constant("content"),
        content: fc.oneof(text, some(fc.oneof(textBlock, imageBlock))),
      }),
      shape({ type: fc.constant("url"), url }),
      shape({ type: fc.constant("file"), file_id: text }),
    ),
  },
  {
    cache_control,
    citations: orNull(plain({}, { enabled: fc.boolean() })),
    context: orNull(text),
    title: orNull(text),
  },
);
const searchResult = shape(
  { type: fc.constant("search_result"), content: some(textBlock), source: text, title: text },
  { cache_control, citations: plain({}, { enabled: fc.boolean() }) },
);
const toolReference = shape({ type: fc.constant("tool_reference"), tool_name: text }, { cache_control });
const download = { download_id: text, url };
const browserState = shape(
  {
    type: fc.constant("browser_state"),
    tabs: some(shape({ tab_id: text, title: text, url }, { active: fc.boolean() })),
  },
  {
    cache_control,
    state_changes: orNull(
      some(
        fc.oneof(
          shape({ type: fc.constant("tab_opened"), tab_id: text }),
          shape({ type: fc.constant("download_started"), ...download }),
          shape(
            { type: fc.constant("download_completed"), ...download },
            { path: orNull(text), size_bytes: orNull(count) },
          ),
          shape({ type: fc.constant("download_failed"), ...download }, { error: orNull(text) }),
        ),
      ),
    ),
  },
);

const caller = fc.oneof(
  plain({ type: fc.constant("direct") }),
  plain({ type: fc.constantFrom("code_execution_20250825", "code_execution_20260120"), tool_id: text }),
);
const name = fc.string({ minLength: 1, maxLength: 8 });
const outputs = <Type extends string>(type: Type) => some(shape({ type: fc.constant(type), file_id: text }));
const codeResult = <Type extends string, Output extends string>(type: Type, output: Output) =>
  shape({
    type: fc.constant(type),
    content: outputs(output),
    return_code: count,
    stderr: text,
    stdout: text,
  });

/** One for each block type; the compiler misses none. */
export const blocks: {
  [Type in AnthropicBlock["type"]]: fc.Arbitrary<AnthropicBlock & { type: Type }>;
} = {
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  search_result: searchResult,
  thinking: shape({ type: fc.constant("thinking"), thinking: text, signature: text }),
  redacted_thinking: shape({ type: fc.constant("redacted_thinking"), data: base64 }),
  tool_use: shape(
    { type: fc.constant("tool_use"), id, name, input: json },
    { cache_control, caller, toolset_name: orNull(text) },
  ),
  server_tool_use: shape(
    {
      type: fc.constant("server_tool_use"),
      id,
      name: fc.constantFrom("web_search", "web_fetch", "code_execution", "tool_search_tool_bm25"),
      input: json,
    },
    { cache_control, caller },
  ),
  tool_result: shape(
    { type: fc.constant("tool_result"), tool_use_id: id },
    {
      cache_control,
      content: fc.oneof(
        text,
        some(fc.oneof(textBlock, imageBlock, searchResult, documentBlock, toolReference, browserState)),
      ),
      is_error: fc.boolean(),
      toolset_name: orNull(text),
    },
  ),
  web_search_tool_result: shape(
    {
      type: fc.constant("web_search_tool_result"),
      tool_use_id: id,
      content: fc.oneof(
        some(
          shape(
            { type: fc.constant("web_search_result"), title: text, url, encrypted_content: base64 },
            { page_age: orNull(text) },
          ),
        ),
        shape({
          type: fc.constant("web_search_tool_result_error"),
          error_code: fc.constantFrom("unavailable", "query_too_long"),
        }),
      ),
    },
    { cache_control, caller },
  ),
  web_fetch_tool_result: shape(
    {
      type: fc.constant("web_fetch_tool_result"),
      tool_use_id: id,
      content: fc.oneof(
        shape(
          { type: fc.constant("web_fetch_result"), url, content: documentBlock },
          { retrieved_at: orNull(text) },
        ),
        shape({
          type: fc.constant("web_fetch_tool_result_error"),
          error_code: fc.constantFrom("unavailable", "url_too_long"),
        }),
      ),
    },
    { cache_control, caller },
  ),
  code_execution_tool_result: shape(
    {
      type: fc.constant("code_execution_tool_result"),
      tool_use_id: id,
      content: fc.oneof(
        codeResult("code_execution_result", "code_execution_output"),
        shape({
          type: fc.constant("encrypted_code_execution_result"),
          content: outputs("code_execution_output"),
          encrypted_stdout: text,
          return_code: count,
          stderr: text,
        }),
        shape({
          type: fc.constant("code_execution_tool_result_error"),
          error_code: fc.constant("execution_time_exceeded"),
        }),
      ),
    },
    { cache_control },
  ),
  bash_code_execution_tool_result: shape(
    {
      type: fc.constant("bash_code_execution_tool_result"),
      tool_use_id: id,
      content: fc.oneof(
        codeResult("bash_code_execution_result", "bash_code_execution_output"),
        shape({
          type: fc.constant("bash_code_execution_tool_result_error"),
          error_code: fc.constant("output_file_too_large"),
        }),
      ),
    },
    { cache_control },
  ),
  text_editor_code_execution_tool_result: shape(
    {
      type: fc.constant("text_editor_code_execution_tool_result"),
      tool_use_id: id,
      content: fc.oneof(
        shape(
          {
            type: fc.constant("text_editor_code_execution_view_result"),
            content: text,
            file_type: fc.constantFrom("text", "image", "pdf"),
          },
          { num_lines: orNull(count), start_line: orNull(count), total_lines: orNull(count) },
        ),
        shape({
          type: fc.constant("text_editor_code_execution_create_result"),
          is_file_update: fc.boolean(),
        }),
        shape(
          { type: fc.constant("text_editor_code_execution_str_replace_result") },
          { lines: orNull(some(text)), new_lines: orNull(count), old_start: orNull(count) },
        ),
        shape(
          {
            type: fc.constant("text_editor_code_execution_tool_result_error"),
            error_code: fc.constant("file_not_found"),
          },
          { error_message: orNull(text) },
        ),
      ),
    },
    { cache_control },
  ),
  tool_search_tool_result: shape(
    {
      type: fc.constant("tool_search_tool_result"),
      tool_use_id: id,
      content: fc.oneof(
        shape({ type: fc.constant("tool_search_tool_search_result"), tool_references: some(toolReference) }),
        shape(
          { type: fc.constant("tool_search_tool_result_error"), error_code: fc.constant("unavailable") },
          { error_message: orNull(text) },
        ),
      ),
    },
    { cache_control },
  ),
  container_upload: shape({ type: fc.constant("container_upload"), file_id: text }, { cache_control }),
};

/** Blocks of the beta API, and of none. */
export const otherBlocks: Record<string, fc.Arbitrary<{ type: string }>> = {
  mcp_tool_use: shape({ type: fc.constant("mcp_tool_use"), id, name, server_name: text, input: json }),
  mcp_tool_result: shape(
    { type: fc.constant("mcp_tool_result"), tool_use_id: id },
    { content: fc.oneof(text, some(textBlock)), is_error: fc.boolean(), cache_control },
  ),
  advisor_tool_result: shape({
    type: fc.constant("advisor_tool_result"),
    tool_use_id: id,
    content: shape({ type: fc.constant("advisor_result"), text }),
  }),
  compaction: shape(
    { type: fc.constant("compaction"), content: orNull(text) },
    { encrypted_content: orNull(base64), signature: orNull(text), cache_control },
  ),
  mcp_tool_listing: shape({
    type: fc.constant("mcp_tool_listing"),
    mcp_server_name: text,
    tools: some(shape({ name: text }, { description: text, input_schema: json })),
  }),
  tool_addition: shape({ type: fc.constant("tool_addition"), tool: json }),
  tool_removal: shape({ type: fc.constant("tool_removal"), tool: json }),
  fallback: shape({ type: fc.constant("fallback"), from: json, to: json, trigger: json }),
  unknown: shape({ type: fc.constantFrom("video", "__proto__", "") }),
};

const block = fc.oneof(
  ...Object.values(blocks),
  ...Object.values(otherBlocks),
) as fc.Arbitrary<AnthropicBlock>;
const system = shape(
  { role: fc.constant("system"), content: fc.oneof(text, some(textBlock)) },
  { clear_at: fc.constantFrom("never", "next_user_message") },
);

/** Every kind of message that the type knows, and some that it does not. */
export const anthropicMessage: fc.Arbitrary<AnthropicMessage> = fc.oneof(
  system,
  shape({ role: fc.constant("user"), content: fc.oneof(text, some(block)) }),
  shape({ role: fc.constant("user"), content: some(blocks.tool_result) }),
  shape({ role: fc.constant("assistant"), content: fc.oneof(text, some(block)) }),
) as fc.Arbitrary<AnthropicMessage>;

/** One message for each block type: nothing but that block. */
export const messageOfEachBlock: readonly (readonly [string, fc.Arbitrary<AnthropicMessage>])[] =
  Object.entries({ ...blocks, ...otherBlocks }).map(([type, arbitrary]) => [
    type,
    shape({
      role: fc.constantFrom("user", "assistant"),
      content: fc.tuple(arbitrary as fc.Arbitrary<AnthropicBlock>),
    }) as fc.Arbitrary<AnthropicMessage>,
  ]);
