import * as profiles from "../src/profiles.ts";

/** The profiles of all providers, and that of all at once. */
export const allProfiles: readonly profiles.ProfileRules[] = [
  profiles.openai,
  profiles.openaiResponses,
  profiles.anthropic,
  profiles.gemini,
  profiles.bedrock,
  profiles.mistral,
  profiles.strict,
];
