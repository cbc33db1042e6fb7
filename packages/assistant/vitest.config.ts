import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { sharedByAlias } from "../../vitest.shared.ts";

// A file puts another major of the AI SDK in its place, for itself alone.
const config: ViteUserConfig = mergeConfig(sharedByAlias, { test: { isolate: true } });
export default config;
