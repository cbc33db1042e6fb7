import type { AnthropicDocumentBlock, AnthropicToolReferenceBlock } from "./messages.ts";

/** Results of the tools that the API runs itself, and what they and other blocks share. */

/** Marks the end of a prompt prefix that the provider may cache. */
export interface AnthropicCacheControl {
  type: "ephemeral";
  ttl?: "5m" | "1h";
}

/** Who made a call: the model, or the code of a call that the API runs. */
export type AnthropicToolCaller =
  | { type: "direct" }
  | { type: "code_execution_20250825"; tool_id: string }
  | { type: "code_execution_20260120"; tool_id: string };

type CitedDocument = {
  cited_text: string;
  document_index: number;
  document_title: string | null;
};

/** Where a text comes from. */
export type AnthropicCitations =
  | (CitedDocument & { type: "char_location"; start_char_index: number; end_char_index: number })
  | (CitedDocument & { type: "page_location"; start_page_number: number; end_page_number: number })
  | (CitedDocument & { type: "content_block_location"; start_block_index: number; end_block_index: number })
  | {
      type: "web_search_result_location";
      cited_text: string;
      encrypted_index: string;
      title: string | null;
      url: string;
    }
  | {
      type: "search_result_location";
      cited_text: string;
      search_result_index: number;
      source: string;
      title: string | null;
      start_block_index: number;
      end_block_index: number;
    };

type ProviderResult<Type extends string, Content> = {
  type: Type;
  tool_use_id: string;
  content: Content;
  cache_control?: AnthropicCacheControl | null;
};

type CalledProviderResult<Type extends string, Content> = ProviderResult<Type, Content> & {
  caller?: AnthropicToolCaller;
};

type ErrorCode = "invalid_tool_input" | "unavailable" | "too_many_requests";

type Failure<Type extends string, Code extends string> = {
  type: Type;
  error_code: Code;
};

type ToldFailure<Type extends string, Code extends string> = Failure<Type, Code> & {
  error_message?: string | null;
};

type CodeResult<Type extends string, Output extends string> = {
  type: Type;
  content: { type: Output; file_id: string }[];
  return_code: number;
  stderr: string;
  stdout: string;
};

export interface AnthropicWebSearchResult {
  type: "web_search_result";
  title: string;
  url: string;
  encrypted_content: string;
  page_age?: string | null;
}

/** The result of a call that the API ran itself, by the call's id. */
export type AnthropicProviderResultBlock =
  | CalledProviderResult<
      "web_search_tool_result",
      | AnthropicWebSearchResult[]
      | Failure<
          "web_search_tool_result_error",
          ErrorCode | "max_uses_exceeded" | "query_too_long" | "request_too_large"
        >
    >
  | CalledProviderResult<
      "web_fetch_tool_result",
      | {
          type: "web_fetch_result";
          url: string;
          content: AnthropicDocumentBlock;
          retrieved_at?: string | null;
        }
      | Failure<
          "web_fetch_tool_result_error",
          | ErrorCode
          | "url_too_long"
          | "url_not_allowed"
          | "url_not_in_prior_context"
          | "url_not_accessible"
          | "unsupported_content_type"
          | "max_uses_exceeded"
          | "content_too_large"
        >
    >
  | ProviderResult<
      "code_execution_tool_result",
      | CodeResult<"code_execution_result", "code_execution_output">
      | {
          type: "encrypted_code_execution_result";
          content: { type: "code_execution_output"; file_id: string }[];
          encrypted_stdout: string;
          return_code: number;
          stderr: string;
        }
      | Failure<"code_execution_tool_result_error", ErrorCode | "execution_time_exceeded">
    >
  | ProviderResult<
      "bash_code_execution_tool_result",
      | CodeResult<"bash_code_execution_result", "bash_code_execution_output">
      | Failure<
          "bash_code_execution_tool_result_error",
          ErrorCode | "execution_time_exceeded" | "output_file_too_large"
        >
    >
  | ProviderResult<
      "text_editor_code_execution_tool_result",
      | {
          type: "text_editor_code_execution_view_result";
          content: string;
          file_type: "text" | "image" | "pdf";
          num_lines?: number | null;
          start_line?: number | null;
          total_lines?: number | null;
        }
      | { type: "text_editor_code_execution_create_result"; is_file_update: boolean }
      | {
          type: "text_editor_code_execution_str_replace_result";
          lines?: string[] | null;
          new_lines?: number | null;
          new_start?: number | null;
          old_lines?: number | null;
          old_start?: number | null;
        }
      | ToldFailure<
          "text_editor_code_execution_tool_result_error",
          ErrorCode | "execution_time_exceeded" | "file_not_found"
        >
    >
  | ProviderResult<
      "tool_search_tool_result",
      | { type: "tool_search_tool_search_result"; tool_references: AnthropicToolReferenceBlock[] }
      | ToldFailure<"tool_search_tool_result_error", ErrorCode | "execution_time_exceeded">
    >;
