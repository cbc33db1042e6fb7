/**
 * The messages of LangChain4j, in the shape of the JSON that its `ChatMessageSerializer` writes.
 *
 * @module
 */

/** The value of an attribute. A whole number beyond JavaScript's safe integers is a bigint. */
export type LangChain4jValue =
  | null
  | string
  | number
  | bigint
  | boolean
  | readonly LangChain4jValue[]
  | LangChain4jAttributes;

/** What an application keeps beside a message. Models do not see it. */
export interface LangChain4jAttributes {
  readonly [name: string]: LangChain4jValue | undefined;
}

interface WithAttributes {
  attributes?: LangChain4jAttributes | undefined;
  /**
   * The attributes whose value is a whole number here and a double in Java, as JSON pointers (`"/score"`), so that
   * `2.0` is written as `2.0` again: JavaScript cannot tell it from `2`.
   */
  attributeDoubles?: readonly string[] | undefined;
}

export interface LangChain4jTextContent {
  type: "TEXT";
  text: string;
}

export interface LangChain4jImageContent {
  type: "IMAGE";
  image: {
    url?: string | undefined;
    base64Data?: string | undefined;
    mimeType?: string | undefined;
    revisedPrompt?: string | undefined;
  };
  /** `LOW` when absent. */
  detailLevel?: "LOW" | "MEDIUM" | "HIGH" | "ULTRA_HIGH" | "AUTO" | undefined;
}

export interface LangChain4jAudioContent {
  type: "AUDIO";
  audio?:
    | {
        url?: string | undefined;
        /** Java's bytes, as base64. */
        binaryData?: string | undefined;
        base64Data?: string | undefined;
        mimeType?: string | undefined;
      }
    | undefined;
}

type MediaFile = {
  url?: string | undefined;
  base64Data?: string | undefined;
  mimeType?: string | undefined;
};

export interface LangChain4jVideoContent {
  type: "VIDEO";
  video?: MediaFile | undefined;
}

export interface LangChain4jPdfContent {
  type: "PDF";
  /** Its `mimeType` is `application/pdf` when absent. */
  pdfFile?: MediaFile | undefined;
}

/** A part of a user message or of a tool's result. */
export type LangChain4jContent =
  | LangChain4jTextContent
  | LangChain4jImageContent
  | LangChain4jAudioContent
  | LangChain4jVideoContent
  | LangChain4jPdfContent;

export interface LangChain4jToolCall {
  id?: string | undefined;
  name?: string | undefined;
  /** Usually JSON text. */
  arguments?: string | undefined;
}

/** Attributes since 1.23; older versions refuse them. */
export interface LangChain4jSystemMessage extends WithAttributes {
  type: "SYSTEM";
  /** Not blank. */
  text: string;
}

export interface LangChain4jUserMessage extends WithAttributes {
  type: "USER";
  /** An empty name counts as none. */
  name?: string | undefined;
  /** At least one; LangChain4j lets `null` entries through. */
  contents: readonly (LangChain4jContent | null)[];
}

export interface LangChain4jAiMessage extends WithAttributes {
  type: "AI";
  text?: string | undefined;
  thinking?: string | undefined;
  toolExecutionRequests?: readonly (LangChain4jToolCall | null)[] | undefined;
}

export interface LangChain4jToolResultMessage extends WithAttributes {
  type: "TOOL_EXECUTION_RESULT";
  /** The call's id. If a model gives none, results are matched by `toolName`. */
  id?: string | undefined;
  toolName?: string | undefined;
  /** At least one; LangChain4j lets `null` entries through. */
  contents: readonly (LangChain4jContent | null)[];
  isError?: boolean | undefined;
}

/** A message of one provider's own kind. */
export interface LangChain4jCustomMessage extends WithAttributes {
  type: "CUSTOM";
}

/** A message of LangChain4j. */
export type LangChain4jMessage =
  | LangChain4jSystemMessage
  | LangChain4jUserMessage
  | LangChain4jAiMessage
  | LangChain4jToolResultMessage
  | LangChain4jCustomMessage;
