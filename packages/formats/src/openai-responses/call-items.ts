import type {
  ResponsesFilePart,
  ResponsesImagePart,
  ResponsesResultPart,
  ResponsesTextPart,
} from "./content.ts";

/** Calls of tools that the application runs, each with the item that answers it. */

export type ResponsesStatus = "in_progress" | "completed" | "incomplete";

/** Who made a call: the model, or a program that it wrote. */
export type ResponsesCaller = { type: "direct" } | { type: "program"; caller_id: string };

/**
 * Definitions of tools, in the API's own words. A memory never looks into them, so any will do.
 */
// biome-ignore lint/suspicious/noExplicitAny: must be assignable to the SDK's union of tools, and from it
export type ResponsesTool = any;

export interface ResponsesFunctionCall {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
  id?: string;
  async?: boolean;
  caller?: ResponsesCaller | null;
  namespace?: string;
  status?: ResponsesStatus;
}

export interface ResponsesFunctionCallOutput {
  type: "function_call_output";
  output: string | ResponsesResultPart[];
  call_id?: string | null;
  id?: string | null;
  caller?: ResponsesCaller | null;
  name?: string | null;
  namespace?: string | null;
  status?: ResponsesStatus | null;
}

export interface ResponsesCustomToolCall {
  type: "custom_tool_call";
  call_id: string;
  name: string;
  input: string;
  id?: string;
  async?: boolean;
  caller?: ResponsesCaller | null;
  namespace?: string;
}

export interface ResponsesCustomToolCallOutput {
  type: "custom_tool_call_output";
  call_id: string;
  output: string | (ResponsesTextPart | ResponsesImagePart | ResponsesFilePart)[];
  id?: string;
  caller?: ResponsesCaller | null;
}

type Point = {
  x: number;
  y: number;
};

export type ResponsesComputerAction =
  | ({
      type: "click";
      button: "left" | "right" | "wheel" | "back" | "forward";
      keys?: string[] | null;
    } & Point)
  | ({ type: "double_click"; keys: string[] | null } & Point)
  | { type: "drag"; path: Point[]; keys?: string[] | null }
  | { type: "keypress"; keys: string[] }
  | ({ type: "move"; keys?: string[] | null } & Point)
  | { type: "screenshot" }
  | ({ type: "scroll"; scroll_x: number; scroll_y: number; keys?: string[] | null } & Point)
  | { type: "type"; text: string }
  | { type: "wait" };

type SafetyCheck = {
  id: string;
  code?: string | null;
  message?: string | null;
};

export interface ResponsesComputerCall {
  type: "computer_call";
  id: string;
  call_id: string;
  pending_safety_checks: SafetyCheck[];
  status: ResponsesStatus;
  action?: ResponsesComputerAction;
  actions?: ResponsesComputerAction[];
}

export interface ResponsesComputerCallOutput {
  type: "computer_call_output";
  call_id: string;
  output: { type: "computer_screenshot"; file_id?: string; image_url?: string };
  id?: string | null;
  acknowledged_safety_checks?: SafetyCheck[] | null;
  status?: ResponsesStatus | null;
}

export interface ResponsesLocalShellCall {
  type: "local_shell_call";
  id: string;
  call_id: string;
  action: {
    type: "exec";
    command: string[];
    env: { [key: string]: string };
    timeout_ms?: number | null;
    user?: string | null;
    working_directory?: string | null;
  };
  status: ResponsesStatus;
}

export interface ResponsesLocalShellCallOutput {
  type: "local_shell_call_output";
  id: string;
  output: string;
  status?: ResponsesStatus | null;
}

export interface ResponsesShellCall {
  type: "shell_call";
  call_id: string;
  action: { commands: string[]; max_output_length?: number | null; timeout_ms?: number | null };
  id?: string | null;
  caller?: ResponsesCaller | null;
  /** A `container_reference` is the API's own: it runs the call itself. */
  environment?:
    | { type: "local"; skills?: { description: string; name: string; path: string }[] }
    | { type: "container_reference"; container_id: string }
    | null;
  status?: ResponsesStatus | null;
}

export interface ResponsesShellCallOutput {
  type: "shell_call_output";
  call_id: string;
  output: {
    outcome: { type: "timeout" } | { type: "exit"; exit_code: number };
    stderr: string;
    stdout: string;
  }[];
  id?: string | null;
  caller?: ResponsesCaller | null;
  max_output_length?: number | null;
  status?: ResponsesStatus | null;
}

export interface ResponsesApplyPatchCall {
  type: "apply_patch_call";
  call_id: string;
  operation:
    | { type: "create_file"; path: string; diff: string }
    | { type: "delete_file"; path: string }
    | { type: "update_file"; path: string; diff: string };
  status: "in_progress" | "completed";
  id?: string | null;
  caller?: ResponsesCaller | null;
}

export interface ResponsesApplyPatchCallOutput {
  type: "apply_patch_call_output";
  call_id: string;
  status: "completed" | "failed";
  id?: string | null;
  caller?: ResponsesCaller | null;
  output?: string | null;
}

export interface ResponsesToolSearchCall {
  type: "tool_search_call";
  arguments: unknown;
  id?: string | null;
  call_id?: string | null;
  execution?: "server" | "client";
  status?: ResponsesStatus | null;
}

export interface ResponsesToolSearchOutput {
  type: "tool_search_output";
  tools: ResponsesTool[];
  id?: string | null;
  call_id?: string | null;
  execution?: "server" | "client";
  status?: ResponsesStatus | null;
}
