import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

// Where work is counted the engine's settings are changed, which other files would feel, and modules are loaded anew.
const config: ViteUserConfig = mergeConfig(shared, { test: { isolate: true } });

export default config;
