import type { ChatUsage } from "./assistant.ts";
import type { ModelUsage } from "./model.ts";

export const noUsage: ChatUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** The sum; a missing or invalid count adds nothing. */
export function withUsage(total: ChatUsage, usage: ModelUsage | undefined): ChatUsage {
  const sum = (name: keyof ChatUsage): number => total[name] + tokensOf(usage?.[name]);
  return {
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cachedInputTokens: sum("cachedInputTokens"),
    cacheWriteTokens: sum("cacheWriteTokens"),
    reasoningTokens: sum("reasoningTokens"),
  };
}

function tokensOf(count: number | undefined): number {
  return Number.isFinite(count) ? (count as number) : 0;
}
