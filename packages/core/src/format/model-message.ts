/**
 * The default message type: the shape of the AI SDK's `ModelMessage` (major 7), assignable to it and from it. It is
 * declared here so that core depends on nothing. Values of the SDK's own type, of major 6 or 7, are kept as they are:
 * see {@link ModelMessageLike}.
 *
 * Its optional members do not admit an explicit `undefined`, because the SDK's do not: with
 * `exactOptionalPropertyTypes` you could not pass these messages to it otherwise.
 *
 * @example
 * ```ts
 * import type { ModelMessage } from "@turnkeep/core";
 *
 * const message: ModelMessage = {
 *   role: "user",
 *   content: [
 *     { type: "text", text: "What is this?" },
 *     { type: "file", data: new URL("https://example.com/cat.png"), mediaType: "image/png" },
 *   ],
 * };
 * ```
 */
export type ModelMessage = SystemModelMessage | UserModelMessage | AssistantModelMessage | ToolModelMessage;

/** What the model is told before the conversation. */
export interface SystemModelMessage {
  role: "system";
  content: string;
  providerOptions?: ProviderOptions;
}

/** What the user said, with images and files. */
export interface UserModelMessage {
  role: "user";
  content: string | (TextPart | ImagePart | FilePart)[];
  providerOptions?: ProviderOptions;
}

/** What the model answered: text, reasoning, tool calls, files, and results of tools that the provider ran itself. */
export interface AssistantModelMessage {
  role: "assistant";
  content:
    | string
    | (
        | TextPart
        | CustomPart
        | FilePart
        | ReasoningPart
        | ReasoningFilePart
        | ToolCallPart
        | ToolResultPart
        | ToolApprovalRequest
      )[];
  providerOptions?: ProviderOptions;
}

/** What answers tool calls, and the user's responses to approval requests. */
export interface ToolModelMessage {
  role: "tool";
  content: (ToolResultPart | ToolApprovalResponse)[];
  providerOptions?: ProviderOptions;
}

/** Provider-specific settings, by provider name. */
export type ProviderOptions = Record<string, JsonObject>;

/** Any JSON value. */
export type JsonValue = null | string | number | boolean | Readonly<JsonObject> | readonly JsonValue[];

/** A JSON object; members that are `undefined` are left out. */
export type JsonObject = { [key: string]: JsonValue | undefined };

/** Base64 text, or the bytes. */
export type DataContent = string | Uint8Array | ArrayBuffer;

/** A file that the provider already has, by provider. */
export type ProviderReference = Record<string, string> & { type?: never };

/** Where a file's content is: inline, at a URL, with the provider, or as text. */
export type FileData =
  | { type: "data"; data: DataContent }
  | { type: "url"; url: URL }
  | { type: "reference"; reference: ProviderReference }
  | { type: "text"; text: string };

/** Text. */
export interface TextPart {
  type: "text";
  text: string;
  providerOptions?: ProviderOptions;
}

/** An image: base64 text, bytes, a URL, or a reference to a file that the provider has. */
export interface ImagePart {
  type: "image";
  image: DataContent | URL | ProviderReference;
  mediaType?: string;
  providerOptions?: ProviderOptions;
}

/** A file of any media type. */
export interface FilePart {
  type: "file";
  data: FileData | DataContent | URL | ProviderReference;
  filename?: string;
  mediaType: string;
  providerOptions?: ProviderOptions;
}

/** What the model thought before it answered. */
export interface ReasoningPart {
  type: "reasoning";
  text: string;
  providerOptions?: ProviderOptions;
}

/** A file that belongs to the model's reasoning. */
export interface ReasoningFilePart {
  type: "reasoning-file";
  data: { type: "data"; data: DataContent } | { type: "url"; url: URL } | DataContent | URL;
  mediaType: string;
  providerOptions?: ProviderOptions;
}

/** A part that only one provider defines, such as `openai.compaction`. */
export interface CustomPart {
  type: "custom";
  kind: `${string}.${string}`;
  providerOptions?: ProviderOptions;
}

/** A tool call; `toolCallId` links it to its result. */
export interface ToolCallPart {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
  providerOptions?: ProviderOptions;
  providerExecuted?: boolean;
}

/** The result of the tool call with that `toolCallId`. */
export interface ToolResultPart {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: ToolResultOutput;
  providerOptions?: ProviderOptions;
}

/** What a tool answered, or why it did not. */
export type ToolResultOutput =
  | { type: "text"; value: string; providerOptions?: ProviderOptions }
  | { type: "json"; value: JsonValue; providerOptions?: ProviderOptions }
  | { type: "execution-denied"; reason?: string; providerOptions?: ProviderOptions }
  | { type: "error-text"; value: string; providerOptions?: ProviderOptions }
  | { type: "error-json"; value: JsonValue; providerOptions?: ProviderOptions }
  | { type: "content"; value: ToolResultContent[] };

/** A part of a tool's output of type `content`. */
export type ToolResultContent =
  | { type: "text"; text: string; providerOptions?: ProviderOptions }
  | { type: "file"; data: FileData; mediaType: string; filename?: string; providerOptions?: ProviderOptions }
  | {
      type: "file-data";
      data: string;
      mediaType: string;
      filename?: string;
      providerOptions?: ProviderOptions;
    }
  | { type: "file-url"; url: string; mediaType?: string; providerOptions?: ProviderOptions }
  | { type: "file-id"; fileId: string | Record<string, string>; providerOptions?: ProviderOptions }
  | { type: "file-reference"; providerReference: ProviderReference; providerOptions?: ProviderOptions }
  | { type: "image-data"; data: string; mediaType: string; providerOptions?: ProviderOptions }
  | { type: "image-url"; url: string; providerOptions?: ProviderOptions }
  | { type: "image-file-id"; fileId: string | Record<string, string>; providerOptions?: ProviderOptions }
  | { type: "image-file-reference"; providerReference: ProviderReference; providerOptions?: ProviderOptions }
  | { type: "custom"; providerOptions?: ProviderOptions };

/** The assistant asks whether the call with that `toolCallId` may run. */
export interface ToolApprovalRequest {
  type: "tool-approval-request";
  approvalId: string;
  toolCallId: string;
  reason?: string;
  isAutomatic?: boolean;
  /** Binds the approval to its call, where the application signs approvals. */
  signature?: string;
  /** The input before the tool's schema transformed it. */
  inputSchemaInput?: unknown;
}

/** The user's answer to the request with that `approvalId`. */
export interface ToolApprovalResponse {
  type: "tool-approval-response";
  approvalId: string;
  approved: boolean;
  reason?: string;
  providerExecuted?: boolean;
}

/**
 * What the default format holds: the AI SDK's `ModelMessage` of major 6 and of major 7 (they are not assignable to each
 * other), {@link ModelMessage}, and anything of that shape. Parts of unknown types are kept as they are.
 *
 * @example
 * ```ts
 * import { createChatMemory, type ModelMessageLike } from "@turnkeep/core";
 *
 * type MyMessage = Extract<ModelMessageLike, { role: "user" }> & { sentAt?: Date };
 * const memory = createChatMemory<MyMessage>();
 * await memory.add({ role: "user", content: "Hello", sentAt: new Date() });
 * ```
 */
export type ModelMessageLike =
  | { role: "system"; content: string }
  | { role: "user"; content: string | ModelMessagePart[] }
  | { role: "assistant"; content: string | ModelMessagePart[] }
  | { role: "tool"; content: ModelMessagePart[] };

/** A part by its type. */
export interface ModelMessagePart {
  type: string;
}
