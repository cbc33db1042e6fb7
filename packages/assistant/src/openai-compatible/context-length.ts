/**
 * What servers say when the messages exceed what the model can read, in the `code`, the `type` or the message of an error:
 *
 * - OpenAI, Groq, DeepSeek, Azure: code `context_length_exceeded`; "This model's maximum context length is 8192 tokens.
 *   However, …"; vLLM, OpenRouter and Mistral ("… too large for model with 32768 maximum context length") use the same words
 * - llama.cpp's server: type `exceed_context_size_error`, "the request exceeds the available context size"
 * - Anthropic: "prompt is too long: 200141 tokens > 200000 maximum"; "input length and `max_tokens` exceed context limit"
 * - Google: "The input token count (…) exceeds the maximum number of tokens allowed (…)"
 * - OpenAI's newer models: "Your input exceeds the context window of this model."
 * - Bedrock: "Input is too long for requested model."
 * - xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens."
 * - SGLang, Together: "The input (250000 tokens) is longer than the model's context length (200000 tokens)."
 * - vLLM, at times: "The decoder prompt (length 9000) is longer than the maximum model length of 8192."
 * - LM Studio: "The number of tokens to keep from the initial prompt is greater than the context length"
 * - Ollama: "prompt too long; exceeded max context length by 10 tokens"
 * - Kimi: "Your request exceeded model token limit: 262144"; MiniMax: "context window exceeds limit"; Qwen: "Range of input
 *   length should be [1, 98304]"
 */
const signs = new RegExp(
  [
    "context_length_exceeded",
    "exceed_context_size_error",
    "maximum context length",
    "context length exceeded",
    "exceeds? the (?:available )?context (?:size|window|length)",
    "exceed context limit",
    "prompt is too long",
    "input token count .*exceeds the maximum",
    "input is too long for requested model",
    "maximum prompt length is \\d",
    "longer than the (?:model's context|maximum model) length",
    "greater than the context length",
    "exceeded max context length",
    "exceeded model token limit",
    "context window exceeds limit",
    "range of input length should be",
  ].join("|"),
  "i",
);

export function isContextLengthText(text: string): boolean {
  return signs.test(text);
}

/** Whether an error of a client library, or one beneath it, says so. */
export function isContextLengthError(error: unknown): boolean {
  let at = error;
  for (let depth = 0; typeof at === "object" && at !== null && depth < 5; depth++) {
    const { message, responseBody, code, type, cause, lastError } = at as Record<string, unknown>;
    const texts = [message, responseBody, code, type].filter((text) => typeof text === "string");
    if (texts.some(isContextLengthText)) return true;
    at = cause ?? lastError;
  }
  return typeof at === "string" && isContextLengthText(at);
}
