import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library(
  "neutral",
  "src/index.ts",
  "src/ai-sdk.ts",
  "src/anthropic.ts",
  "src/openai.ts",
  "src/openai-compatible.ts",
);
export default config;
