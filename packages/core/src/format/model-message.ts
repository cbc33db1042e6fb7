/**
 * The default message type: the shape of the AI SDK's `ModelMessage` (major 7), declared here so that core depends on
 * nothing. Values of the SDK's own type, of major 6 or 7, are held as they are: see {@link ModelMessageLike}.
 */
export type ModelMessage = SystemModelMessage | UserModelMessage | AssistantModelMessage | ToolModelMessage;

export interface SystemModelMessage {
  role: "system";
  content: string;
  providerOptions?: ProviderOptions;
}

export interface UserModelMessage {
  role: "user";
  content: string | (TextPart | ImagePart | FilePart)[];
  providerOptions?: ProviderOptions;
}

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

export interface ToolModelMessage {
  role: "tool";
  content: (ToolResultPart | ToolApprovalResponse)[];
  providerOptions?: ProviderOptions;
}

/** Settings of one provider each, by its name. */
export type ProviderOptions = Record<string, JsonObject>;

export type JsonValue = null | string | number | boolean | JsonObject | JsonValue[];

export type JsonObject = { [key: string]: JsonValue | undefined };

/** Base64 text, or the bytes. */
export type DataContent = string | Uint8Array | ArrayBuffer;

/** A file that the provider already has, by provider. */
export type ProviderReference = Record<string, string> & { type?: never };

export type FileData =
  | { type: "data"; data: DataContent }
  | { type: "url"; url: URL }
  | { type: "reference"; reference: ProviderReference }
  | { type: "text"; text: string };

export interface TextPart {
  type: "text";
  text: string;
  providerOptions?: ProviderOptions;
}

export interface ImagePart {
  type: "image";
  image: DataContent | URL | ProviderReference;
  mediaType?: string;
  providerOptions?: ProviderOptions;
}

export interface FilePart {
  type: "file";
  data: FileData | DataContent | URL | ProviderReference;
  filename?: string;
  mediaType: string;
  providerOptions?: ProviderOptions;
}

export interface ReasoningPart {
  type: "reasoning";
  text: string;
  providerOptions?: ProviderOptions;
}

export interface ReasoningFilePart {
  type: "reasoning-file";
  data: { type: "data"; data: DataContent } | { type: "url"; url: URL } | DataContent | URL;
  mediaType: string;
  providerOptions?: ProviderOptions;
}

/** A part that only one provider knows, such as `openai.compaction`. */
export interface CustomPart {
  type: "custom";
  kind: `${string}.${string}`;
  providerOptions?: ProviderOptions;
}

export interface ToolCallPart {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
  providerOptions?: ProviderOptions;
  providerExecuted?: boolean;
}

export interface ToolResultPart {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: ToolResultOutput;
  providerOptions?: ProviderOptions;
}

export type ToolResultOutput =
  | { type: "text"; value: string; providerOptions?: ProviderOptions }
  | { type: "json"; value: JsonValue; providerOptions?: ProviderOptions }
  | { type: "execution-denied"; reason?: string; providerOptions?: ProviderOptions }
  | { type: "error-text"; value: string; providerOptions?: ProviderOptions }
  | { type: "error-json"; value: JsonValue; providerOptions?: ProviderOptions }
  | { type: "content"; value: ToolResultContent[] };

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
  | { type: "image-data"; data: string; mediaType: string; providerOptions?: ProviderOptions }
  | { type: "image-url"; url: string; providerOptions?: ProviderOptions }
  | { type: "custom"; providerOptions?: ProviderOptions };

export interface ToolApprovalRequest {
  type: "tool-approval-request";
  approvalId: string;
  toolCallId: string;
  reason?: string;
  isAutomatic?: boolean;
  signature?: string;
}

export interface ToolApprovalResponse {
  type: "tool-approval-response";
  approvalId: string;
  approved: boolean;
  reason?: string;
  providerExecuted?: boolean;
}

/**
 * What the default format holds: the AI SDK's `ModelMessage` of major 6 and of major 7 (they are not assignable to each
 * other), {@link ModelMessage}, and anything of that shape. Parts of a type that is not known here are kept as they are.
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
