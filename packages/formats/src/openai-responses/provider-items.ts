/** Calls that the API runs itself. Most hold their result. */

export interface ResponsesWebSearchCall {
  type: "web_search_call";
  id: string;
  action:
    | { type: "search"; queries?: string[]; query?: string; sources?: { type: "url"; url: string }[] }
    | { type: "open_page"; url?: string | null }
    | { type: "find_in_page"; pattern: string; url: string };
  status: "in_progress" | "searching" | "completed" | "failed" | "incomplete";
}

export interface ResponsesFileSearchCall {
  type: "file_search_call";
  id: string;
  queries: string[];
  status: "in_progress" | "searching" | "completed" | "incomplete" | "failed";
  results?:
    | {
        attributes?: { [key: string]: string | number | boolean } | null;
        file_id?: string;
        filename?: string;
        score?: number;
        text?: string;
      }[]
    | null;
}

export interface ResponsesCodeInterpreterCall {
  type: "code_interpreter_call";
  id: string;
  code: string | null;
  container_id: string;
  outputs: ({ type: "logs"; logs: string } | { type: "image"; url: string })[] | null;
  status: "in_progress" | "completed" | "incomplete" | "interpreting" | "failed";
}

export interface ResponsesImageGenerationCall {
  type: "image_generation_call";
  id: string;
  /** Base64. */
  result: string | null;
  status: "in_progress" | "completed" | "generating" | "failed";
  action?: "generate" | "edit" | "auto" | null;
  background?: "transparent" | "opaque" | "auto" | null;
  error?: {
    code: string | null;
    message: string;
    param: string | null;
    type: string;
    moderation_details?: { categories: string[]; moderation_stage: "input" | "output" | "unknown" };
  };
  output_format?: "png" | "webp" | "jpeg" | "gif" | "svg" | null;
  quality?: "low" | "medium" | "high" | "xhigh" | "max" | "auto" | null;
  revised_prompt?: string | null;
  size?: string | null;
  svg_usage?: {
    input_tokens: number;
    model: string;
    output_tokens: number;
    reasoning_tokens: number;
    total_tokens: number;
  };
}

export interface ResponsesMcpCall {
  type: "mcp_call";
  id: string;
  name: string;
  arguments: string;
  server_label: string;
  /** The request that was approved before the call ran. */
  approval_request_id?: string | null;
  error?:
    | { type: "mcp_protocol_error"; code: number; message: string }
    | { type: "mcp_tool_execution_error"; content: unknown }
    | { type: "http_error"; code: number; message: string }
    | null;
  output?: string | null;
  status?: "in_progress" | "completed" | "incomplete" | "calling" | "failed";
}

/** The tools that an MCP server offers. */
export interface ResponsesMcpListTools {
  type: "mcp_list_tools";
  id: string;
  server_label: string;
  tools: { name: string; input_schema: unknown; annotations?: unknown; description?: string | null }[];
  error?: string | null;
}

/** Asks whether a call may run. */
export interface ResponsesMcpApprovalRequest {
  type: "mcp_approval_request";
  id: string;
  name: string;
  arguments: string;
  server_label: string;
}

/** The user's answer to a request. */
export interface ResponsesMcpApprovalResponse {
  type: "mcp_approval_response";
  approval_request_id: string;
  approve: boolean;
  id?: string | null;
  reason?: string | null;
}

/** A program that the model wrote to call tools. */
export interface ResponsesProgram {
  type: "program";
  id: string;
  call_id: string;
  code: string;
  fingerprint: string;
}

export interface ResponsesProgramOutput {
  type: "program_output";
  id: string;
  call_id: string;
  result: string;
  status: "completed" | "incomplete";
}
