/** What messages and results of the Responses API hold, as the `openai` package types it. */

/** Marks the end of a prompt prefix that the provider may cache. */
export interface ResponsesCacheBreakpoint {
  mode: "explicit";
  ttl?: "30m" | "12h";
}

export interface ResponsesTextPart {
  type: "input_text";
  text: string;
  prompt_cache_breakpoint?: ResponsesCacheBreakpoint;
}

type Detail = "low" | "high" | "auto" | "original";

export interface ResponsesImagePart {
  type: "input_image";
  detail: Detail;
  file_id?: string | null;
  image_url?: string | null;
  prompt_cache_breakpoint?: ResponsesCacheBreakpoint;
}

export interface ResponsesFilePart {
  type: "input_file";
  detail?: "auto" | "low" | "high";
  file_data?: string;
  file_id?: string | null;
  file_url?: string;
  filename?: string;
  prompt_cache_breakpoint?: ResponsesCacheBreakpoint;
}

/** A part of what a user or a developer says. */
export type ResponsesInputPart = ResponsesTextPart | ResponsesImagePart | ResponsesFilePart;

/** A part of what a function answers. */
export type ResponsesResultPart =
  | { type: "input_text"; text: string; prompt_cache_breakpoint?: ResponsesCacheBreakpoint | null }
  | {
      type: "input_image";
      detail?: Detail | null;
      file_id?: string | null;
      image_url?: string | null;
      prompt_cache_breakpoint?: ResponsesCacheBreakpoint | null;
    }
  | {
      type: "input_file";
      detail?: "auto" | "low" | "high";
      file_data?: string | null;
      file_id?: string | null;
      file_url?: string | null;
      filename?: string | null;
      prompt_cache_breakpoint?: ResponsesCacheBreakpoint | null;
    };

/** Where a text comes from. */
export type ResponsesAnnotation =
  | { type: "file_citation"; file_id: string; filename: string; index: number }
  | { type: "url_citation"; url: string; title: string; start_index: number; end_index: number }
  | {
      type: "container_file_citation";
      container_id: string;
      file_id: string;
      filename: string;
      start_index: number;
      end_index: number;
    }
  | { type: "file_path"; file_id: string; index: number };

type Logprob = {
  token: string;
  bytes: number[];
  logprob: number;
};

export interface ResponsesOutputTextPart {
  type: "output_text";
  text: string;
  annotations: ResponsesAnnotation[];
  logprobs?: (Logprob & { top_logprobs: Logprob[] })[];
}

export interface ResponsesRefusalPart {
  type: "refusal";
  refusal: string;
}

/** A part of what the model says. */
export type ResponsesOutputPart = ResponsesOutputTextPart | ResponsesRefusalPart;
