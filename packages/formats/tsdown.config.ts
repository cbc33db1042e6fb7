import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library(
  "neutral",
  "src/ai-sdk.ts",
  "src/anthropic.ts",
  "src/bedrock.ts",
  "src/convert.ts",
  "src/gemini.ts",
  "src/langchain4j.ts",
  "src/ollama.ts",
  "src/openai.ts",
  "src/openai-responses.ts",
  "src/profiles.ts",
);
export default config;
