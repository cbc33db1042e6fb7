/**
 * The messages of OpenAI's Chat Completions API, as the `openai` package types them: assignable from and to its
 * `ChatCompletionMessageParam`, so an application keeps its own import. Optional members do not admit an explicit
 * `undefined`, because they do not in that package.
 *
 * @module
 */

/** Marks the end of a prompt prefix that the provider may cache. */
export interface ChatCacheBreakpoint {
  mode: "explicit";
  ttl?: "30m" | "12h";
}

export interface ChatTextPart {
  type: "text";
  text: string;
  prompt_cache_breakpoint?: ChatCacheBreakpoint;
}

export interface ChatRefusalPart {
  type: "refusal";
  refusal: string;
}

export interface ChatImagePart {
  type: "image_url";
  image_url: { url: string; detail?: "auto" | "low" | "high" | "original" };
  prompt_cache_breakpoint?: ChatCacheBreakpoint;
}

export interface ChatAudioPart {
  type: "input_audio";
  input_audio: { data: string; format: "wav" | "mp3" };
  prompt_cache_breakpoint?: ChatCacheBreakpoint;
}

export interface ChatFilePart {
  type: "file";
  file: { file_data?: string; file_id?: string; filename?: string };
  prompt_cache_breakpoint?: ChatCacheBreakpoint;
}

export interface ChatFunctionToolCall {
  type: "function";
  id: string;
  function: { name: string; arguments: string };
}

export interface ChatCustomToolCall {
  type: "custom";
  id: string;
  custom: { name: string; input: string };
}

export interface ChatSystemMessage {
  role: "system";
  content: string | ChatTextPart[];
  name?: string;
}

export interface ChatDeveloperMessage {
  role: "developer";
  content: string | ChatTextPart[];
  name?: string;
}

export interface ChatUserMessage {
  role: "user";
  content: string | (ChatTextPart | ChatImagePart | ChatAudioPart | ChatFilePart)[];
  name?: string;
}

export interface ChatAssistantMessage {
  role: "assistant";
  content?: string | (ChatTextPart | ChatRefusalPart)[] | null;
  name?: string;
  refusal?: string | null;
  audio?: { id: string } | null;
  tool_calls?: (ChatFunctionToolCall | ChatCustomToolCall)[];
  /** The older form of a call, before `tool_calls`; answered by a message of role `function`. */
  function_call?: { name: string; arguments: string } | null;
}

export interface ChatToolMessage {
  role: "tool";
  content: string | ChatTextPart[];
  tool_call_id: string;
}

/** The older form of a result, before `tool` messages. */
export interface ChatFunctionMessage {
  role: "function";
  content: string | null;
  name: string;
}

/** A message of OpenAI's Chat Completions API. */
export type ChatMessage =
  | ChatSystemMessage
  | ChatDeveloperMessage
  | ChatUserMessage
  | ChatAssistantMessage
  | ChatToolMessage
  | ChatFunctionMessage;
