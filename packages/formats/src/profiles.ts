/**
 * What providers accept, as tables of rules, and the code that makes a list of messages fit them.
 *
 * @module
 */
export type { ProviderProfile, ShapedView, ViewStage } from "@turnkeep/core";
export { type ProfileRules, profileOf } from "./profiles/profile-of.ts";
export {
  anthropic,
  bedrock,
  gemini,
  mistral,
  openai,
  openaiResponses,
  strict,
} from "./profiles/profiles.ts";
export type { ProviderRule, RuleName } from "./profiles/rules.ts";
export { minimax, ollama, qwen, xai } from "./profiles/servers.ts";
export { type Violation, validate } from "./profiles/validate.ts";
