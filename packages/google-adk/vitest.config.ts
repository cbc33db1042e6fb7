import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const config: ViteUserConfig = mergeConfig(shared, {
  // ADK takes a second to load: once, and not once for each file.
  test: { isolate: false, globalSetup: ["@turnkeep/servers/vitest-postgres"] },
});
export default config;
