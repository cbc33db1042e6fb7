import { TokenLimiterProcessor } from "@mastra/core/processors";

/**
 * The limiter at its present place in an agent's run, `processLLMRequest`: it is given the whole prompt, as the provider
 * takes it, before each request. It estimates tokens by itself (tokenx) and takes no counter there.
 */
export function open({ messages, maxTokens, mode }) {
  const limiter = new TokenLimiterProcessor({ limit: maxTokens, trimMode: mode });
  const prompt = messages.map(convert);
  return {
    convert,
    async step(message) {
      prompt.push(message);
      const trimmed = await limiter.processLLMRequest({ prompt });
      return (trimmed?.prompt ?? prompt).length;
    },
  };
}

/** A model message as the AI SDK hands it to a provider: every content but the system message's is parts. */
export function convert({ role, content }) {
  if (role === "system" || typeof content !== "string") return { role, content };
  return { role, content: [{ type: "text", text: content }] };
}
