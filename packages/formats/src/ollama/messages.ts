/**
 * The messages of Ollama's chat API, as the `ollama` package types them: assignable from and to its `Message`, so an
 * application keeps its own import. Newer servers give calls ids, which that package does not name yet.
 *
 * @module
 */

/** A call. Without an id, its result is paired with it by the tool's name. */
export interface OllamaToolCall {
  id?: string;
  function: {
    name: string;
    arguments: { [key: string]: unknown };
  };
}

/**
 * A message: `system`, `user`, `assistant` or `tool`. What a tool put out names the tool as `tool_name`, or the id of its
 * call as `tool_call_id`.
 */
export interface OllamaMessage {
  role: string;
  content: string;
  thinking?: string;
  /** As base64 or bytes. */
  images?: Uint8Array[] | string[];
  tool_calls?: OllamaToolCall[];
  tool_name?: string;
  tool_call_id?: string;
}
