/** Servers that speak the protocol of another provider and refuse more of it, and one with a protocol of its own. */
import { type ProfileRules, profileOf } from "./profile-of.ts";
import { anthropic, openai } from "./profiles.ts";
import type { ProviderRule } from "./rules.ts";

const minimaxResults = "https://github.com/NousResearch/hermes-agent/pull/48123";

/** These rules, and others in place of those of the same name. */
function withRules(rules: readonly ProviderRule[], ...more: readonly ProviderRule[]): ProviderRule[] {
  const names = new Set(more.map(({ rule }) => rule));
  return [...rules.filter(({ rule }) => !names.has(rule)), ...more];
}

/**
 * Qwen 3.5 and later behind vLLM, SGLang, llama.cpp or Ollama, whose chat template takes the system message only first and
 * asks for a question of the user's; templates of other models there want the roles to alternate. They keep the reasoning of
 * the turn.
 */
export const qwen: ProfileRules = profileOf(
  "qwen",
  withRules(
    openai.rules.filter(({ rule }) => rule !== "reasoning"),
    { rule: "system-first", source: "https://github.com/QwenLM/Qwen3.8/issues/244" },
    {
      rule: "first-message",
      source: "https://huggingface.co/Qwen/Qwen3.5-27B/blob/main/chat_template.jinja",
    },
    {
      rule: "same-role",
      roles: ["user", "assistant"],
      source: "https://github.com/suitenumerique/conversations/issues/197",
    },
  ),
);

/** xAI's chat completions: every message has a content that is not empty. */
export const xai: ProfileRules = profileOf(
  "xai",
  withRules(
    openai.rules,
    { rule: "empty-text", which: "blank", source: "https://github.com/AstrBotDevs/AstrBot/issues/6447" },
    { rule: "result-text", which: "any", source: "https://github.com/langbot-app/LangBot/issues/1205" },
  ),
);

/**
 * MiniMax by Anthropic's protocol: nothing that the user says stands in the message of results, and each result follows the
 * message that makes its call, and no other call (error 2013).
 */
export const minimax: ProfileRules = profileOf(
  "minimax",
  withRules(
    anthropic.rules,
    { rule: "answer-after-results", apart: true, source: minimaxResults },
    { rule: "calls-apart", source: minimaxResults },
  ),
);

/**
 * Ollama's own chat API. Its models' templates take most lists, and each its own: `qwen` is for those that want the system
 * message first. Reasoning goes back, as its documents show.
 */
export const ollama: ProfileRules = profileOf("ollama", [
  // Of an empty list it loads the model, and answers nothing.
  { rule: "not-empty", source: "https://github.com/ollama/ollama/blob/main/docs/api.md" },
  { rule: "tool-results", source: "https://docs.ollama.com/capabilities/tool-calling" },
  ...openai.rules.filter(({ rule }) => rule === "provider-calls"),
  { rule: "call-input", source: "https://github.com/ollama/ollama/blob/main/api/types.go" },
]);
