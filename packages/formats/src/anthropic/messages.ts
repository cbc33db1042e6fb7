import type {
  AnthropicCacheControl,
  AnthropicCitations,
  AnthropicProviderResultBlock,
  AnthropicToolCaller,
} from "./provider-blocks.ts";

/**
 * The messages of Anthropic's Messages API, as the `@anthropic-ai/sdk` package types them: assignable from and to its
 * `MessageParam`, so an application keeps its own import. Optional members do not admit an explicit `undefined`,
 * because they do not in that package.
 *
 * @module
 */

export interface AnthropicTextBlock {
  type: "text";
  text: string;
  cache_control?: AnthropicCacheControl | null;
  citations?: AnthropicCitations[] | null;
}

export interface AnthropicImageBlock {
  type: "image";
  source:
    | { type: "base64"; media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"; data: string }
    | { type: "url"; url: string }
    | { type: "file"; file_id: string };
  cache_control?: AnthropicCacheControl | null;
  transformations?: { oversized_image?: "downsize" | "error" } | null;
}

export interface AnthropicDocumentBlock {
  type: "document";
  source:
    | { type: "base64"; media_type: "application/pdf"; data: string }
    | { type: "text"; media_type: "text/plain"; data: string }
    | { type: "content"; content: string | (AnthropicTextBlock | AnthropicImageBlock)[] }
    | { type: "url"; url: string }
    | { type: "file"; file_id: string };
  cache_control?: AnthropicCacheControl | null;
  citations?: { enabled?: boolean } | null;
  context?: string | null;
  title?: string | null;
}

export interface AnthropicSearchResultBlock {
  type: "search_result";
  content: AnthropicTextBlock[];
  source: string;
  title: string;
  cache_control?: AnthropicCacheControl | null;
  citations?: { enabled?: boolean };
}

/** The model's reasoning; must go back unmodified. */
export interface AnthropicThinkingBlock {
  type: "thinking";
  thinking: string;
  signature: string;
}

export interface AnthropicRedactedThinkingBlock {
  type: "redacted_thinking";
  data: string;
}

export interface AnthropicToolUseBlock {
  type: "tool_use";
  id: string;
  name: string;
  input: unknown;
  cache_control?: AnthropicCacheControl | null;
  caller?: AnthropicToolCaller;
  toolset_name?: string | null;
}

/** A call that the API runs itself. */
export interface AnthropicServerToolUseBlock {
  type: "server_tool_use";
  id: string;
  name:
    | "web_search"
    | "web_fetch"
    | "code_execution"
    | "bash_code_execution"
    | "text_editor_code_execution"
    | "tool_search_tool_regex"
    | "tool_search_tool_bm25";
  input: unknown;
  cache_control?: AnthropicCacheControl | null;
  caller?: AnthropicToolCaller;
}

export interface AnthropicToolReferenceBlock {
  type: "tool_reference";
  tool_name: string;
  cache_control?: AnthropicCacheControl | null;
}

/** The state of a browser after a call of the browser toolset. */
export interface AnthropicBrowserStateBlock {
  type: "browser_state";
  tabs: { tab_id: string; title: string; url: string; active?: boolean }[];
  cache_control?: AnthropicCacheControl | null;
  state_changes?:
    | (
        | { type: "tab_opened"; tab_id: string }
        | { type: "download_started"; download_id: string; url: string }
        | {
            type: "download_completed";
            download_id: string;
            url: string;
            path?: string | null;
            size_bytes?: number | null;
          }
        | { type: "download_failed"; download_id: string; url: string; error?: string | null }
      )[]
    | null;
}

export interface AnthropicToolResultBlock {
  type: "tool_result";
  tool_use_id: string;
  content?:
    | string
    | (
        | AnthropicTextBlock
        | AnthropicImageBlock
        | AnthropicSearchResultBlock
        | AnthropicDocumentBlock
        | AnthropicToolReferenceBlock
        | AnthropicBrowserStateBlock
      )[];
  is_error?: boolean;
  cache_control?: AnthropicCacheControl | null;
  toolset_name?: string | null;
}

/** A file for the container of the code execution tool. */
export interface AnthropicContainerUploadBlock {
  type: "container_upload";
  file_id: string;
  cache_control?: AnthropicCacheControl | null;
}

export type AnthropicBlock =
  | AnthropicTextBlock
  | AnthropicImageBlock
  | AnthropicDocumentBlock
  | AnthropicSearchResultBlock
  | AnthropicThinkingBlock
  | AnthropicRedactedThinkingBlock
  | AnthropicToolUseBlock
  | AnthropicServerToolUseBlock
  | AnthropicToolResultBlock
  | AnthropicProviderResultBlock
  | AnthropicContainerUploadBlock;

/** The system prompt: `prompt()` returns it apart, for the request's own `system`. */
export interface AnthropicSystemMessage {
  role: "system";
  content: string | AnthropicTextBlock[];
}

/** What the user said, and results of tools. */
export interface AnthropicUserMessage {
  role: "user";
  content: string | AnthropicBlock[];
}

export interface AnthropicAssistantMessage {
  role: "assistant";
  content: string | AnthropicBlock[];
  /** A whole response, whose type is `"message"`, cannot be sent back: only its `role` and `content` can. */
  type?: never;
}

/** A message of Anthropic's Messages API. */
export type AnthropicMessage = AnthropicSystemMessage | AnthropicUserMessage | AnthropicAssistantMessage;
