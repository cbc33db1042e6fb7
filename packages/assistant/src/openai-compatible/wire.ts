/** What goes over the wire, as far as it is read or made here; other members are kept as they come. */
export interface WireMessage {
  role: "assistant";
  /** A list of parts with Mistral's reasoning models. */
  content?: unknown;
  tool_calls?: WireCall[];
  [member: string]: unknown;
}

export type WireCall = {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
};

export interface WireUsage {
  readonly prompt_tokens?: number | undefined;
  readonly completion_tokens?: number | undefined;
  readonly prompt_tokens_details?:
    | { readonly cached_tokens?: number | undefined; readonly cache_write_tokens?: number | undefined }
    | null
    | undefined;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | undefined } | null | undefined;
  /** DeepSeek's, beside the details or in their place. */
  readonly prompt_cache_hit_tokens?: number | undefined;
}

/** A whole answer, or one chunk of it. */
export interface WireAnswer {
  readonly model?: string | undefined;
  readonly choices?: readonly WireChoice[] | undefined;
  readonly usage?: WireUsage | null | undefined;
  readonly error?: unknown;
}

export interface WireChoice {
  readonly message?: Record<string, unknown> | null | undefined;
  readonly delta?: Record<string, unknown> | null | undefined;
  readonly finish_reason?: string | null | undefined;
  /** OpenRouter's, of an answer that broke off. */
  readonly error?: unknown;
}

/** A call as a chunk brings it; some servers leave out the index, others the id. */
export interface WireCallDelta {
  readonly index?: number | null | undefined;
  readonly id?: string | null | undefined;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | undefined;
  readonly [member: string]: unknown;
}
