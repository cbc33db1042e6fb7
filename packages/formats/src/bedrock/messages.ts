/**
 * The messages of Amazon Bedrock's Converse API, as the `@aws-sdk/client-bedrock-runtime` package types them: assignable
 * from and to its `Message`, so an application keeps its own import. That package lets each required member be `undefined`;
 * the format refuses those that it needs.
 *
 * @module
 */

/** What JSON holds. */
export type BedrockValue =
  | null
  | boolean
  | number
  | string
  | BedrockValue[]
  | { [member: string]: BedrockValue };

/** What the message carries itself. */
export interface BedrockBytes {
  bytes: Uint8Array;
}

/** What the message carries, or where it stands. */
export type BedrockMediaSource =
  | BedrockBytes
  | { s3Location: { uri: string | undefined; bucketOwner?: string | undefined } }
  | { $unknown: [string, unknown] };

export interface BedrockImageBlock {
  format: "gif" | "jpeg" | "png" | "webp" | undefined;
  source: BedrockMediaSource | undefined;
}

export interface BedrockVideoBlock {
  format: "flv" | "mkv" | "mov" | "mp4" | "mpeg" | "mpg" | "three_gp" | "webm" | "wmv" | undefined;
  source: BedrockMediaSource | undefined;
}

export interface BedrockAudioBlock {
  format:
    | "aac"
    | "flac"
    | "m4a"
    | "mka"
    | "mkv"
    | "mp3"
    | "mp4"
    | "mpeg"
    | "mpga"
    | "ogg"
    | "opus"
    | "pcm"
    | "wav"
    | "webm"
    | "x-aac"
    | undefined;
  source: BedrockMediaSource | undefined;
}

/** The model is shown the name; no two documents of a request may have the same. */
export interface BedrockDocumentBlock {
  format?: "csv" | "doc" | "docx" | "html" | "md" | "pdf" | "txt" | "xls" | "xlsx" | undefined;
  name: string | undefined;
  source: BedrockMediaSource | { text: string } | { content: BedrockText[] } | undefined;
  context?: string | undefined;
  citations?: { enabled: boolean | undefined } | undefined;
}

type BedrockText = { text: string } | { $unknown: [string, unknown] };

export interface BedrockSearchResultBlock {
  source: string | undefined;
  title: string | undefined;
  content: { text: string | undefined }[] | undefined;
  citations?: { enabled: boolean | undefined } | undefined;
}

export interface BedrockToolUseBlock {
  toolUseId: string | undefined;
  name: string | undefined;
  input: BedrockValue | undefined;
  /** The API runs the call itself. */
  type?: "server_tool_use" | undefined;
}

/** What a result may hold. */
export type BedrockResultBlock =
  | { text: string }
  | { json: BedrockValue }
  | { image: BedrockImageBlock }
  | { document: BedrockDocumentBlock }
  | { video: BedrockVideoBlock }
  | { searchResult: BedrockSearchResultBlock }
  | { $unknown: [string, unknown] };

export interface BedrockToolResultBlock {
  toolUseId: string | undefined;
  content: BedrockResultBlock[] | undefined;
  status?: "error" | "success" | undefined;
  type?: string | undefined;
}

/** What the model thought; must go back unmodified. */
export type BedrockReasoningContent =
  | { reasoningText: { text: string | undefined; signature?: string | undefined } }
  | { redactedContent: Uint8Array }
  | { $unknown: [string, unknown] };

/** What a guardrail looks at. */
export type BedrockGuardContent =
  | {
      text: {
        text: string | undefined;
        qualifiers?: ("grounding_source" | "guard_content" | "query")[] | undefined;
      };
    }
  | {
      image: {
        format: "jpeg" | "png" | undefined;
        source: BedrockBytes | { $unknown: [string, unknown] } | undefined;
      };
    }
  | { $unknown: [string, unknown] };

export interface BedrockToolReference {
  type?: string | undefined;
  name?: string | undefined;
  serverName?: string | undefined;
}

/** A block holds one member. */
export type BedrockContentBlock =
  | { text: string }
  | { image: BedrockImageBlock }
  | { document: BedrockDocumentBlock }
  | { video: BedrockVideoBlock }
  | { audio: BedrockAudioBlock }
  | { toolUse: BedrockToolUseBlock }
  | { toolResult: BedrockToolResultBlock }
  | { guardContent: BedrockGuardContent }
  | { cachePoint: { type: "default" | undefined; ttl?: "5m" | "1h" | undefined } }
  | { reasoningContent: BedrockReasoningContent }
  | { citationsContent: { content?: BedrockText[] | undefined } }
  | { searchResult: BedrockSearchResultBlock }
  | { toolAddition: { tool: BedrockToolReference | undefined } }
  | { toolRemoval: { tool: BedrockToolReference | undefined } }
  | { $unknown: [string, unknown] };

/**
 * A message of the Converse API. One of role `system` holds the system prompt, which `prompt()` returns apart, for the
 * request's own `system`.
 */
export interface BedrockMessage {
  role: "user" | "assistant" | "system" | undefined;
  content: BedrockContentBlock[] | undefined;
}
