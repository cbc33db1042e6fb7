import type { UIMessage } from "ai";

/** What an answer has used so far, of the model's own counts. */
export interface ChatUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Those of the input that came from the provider's cache. */
  readonly cachedInputTokens: number;
}

/**
 * What stands in the `metadata` of an answer, beside the application's own. `interrupted`: its process died, or lost its turn,
 * before the answer was whole.
 */
export interface ChatMetadata {
  readonly status?: "streaming" | "done" | "stopped" | "failed" | "interrupted" | undefined;
  readonly usage?: ChatUsage | undefined;
}

/** A message of a chat behind `chatHandler`, for `useChat<ChatMessage>`. */
export type ChatMessage = UIMessage<ChatMetadata>;

/** A part of the SDK's stream, as far as it is read here, in both majors. */
export interface StreamPart {
  readonly type: string;
  readonly error?: unknown;
  readonly usage?: {
    readonly inputTokens?: number | undefined;
    readonly outputTokens?: number | undefined;
    readonly inputTokenDetails?: { readonly cacheReadTokens?: number | undefined } | undefined;
  };
}

export function metadataOf({ metadata }: UIMessage): ChatMetadata {
  return typeof metadata === "object" && metadata !== null ? metadata : {};
}

/** Whether a message says that it is being made. */
export function isStreaming(message: UIMessage): boolean {
  return metadataOf(message).status === "streaming";
}

/** An answer that is over: none of its texts still streams. */
export function ended(message: UIMessage, status: ChatMetadata["status"]): UIMessage {
  const parts = message.parts.map((part) =>
    (part.type === "text" || part.type === "reasoning") && part.state === "streaming"
      ? { ...part, state: "done" as const }
      : part,
  );
  return withStatus({ ...message, parts }, status);
}

export function withStatus(message: UIMessage, status: ChatMetadata["status"]): UIMessage {
  return { ...message, metadata: { ...metadataOf(message), status } };
}

const statuses = new Map([
  ["start", "streaming"],
  ["finish", "done"],
  ["abort", "stopped"],
  ["error", "failed"],
] as const);

/** Tells the metadata of an answer as its stream goes on. `before` has what earlier steps of it have used. */
export function answerMetadata(
  before: ChatMetadata,
): (streamed: { part: StreamPart }) => ChatMetadata | undefined {
  let { usage } = before;
  let hasFailed = false;
  return ({ part }) => {
    if (part.type === "finish-step") {
      usage = sum(usage, part.usage);
      return { usage };
    }
    const status = statuses.get(part.type as never);
    // A stream that failed is finished too.
    if (status === undefined || hasFailed) return undefined;
    hasFailed = status === "failed";
    return { status };
  };
}

function sum(before: ChatUsage | undefined, step: StreamPart["usage"]): ChatUsage {
  return {
    inputTokens: (before?.inputTokens ?? 0) + (step?.inputTokens ?? 0),
    outputTokens: (before?.outputTokens ?? 0) + (step?.outputTokens ?? 0),
    cachedInputTokens: (before?.cachedInputTokens ?? 0) + (step?.inputTokenDetails?.cacheReadTokens ?? 0),
  };
}
