import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const config: ViteUserConfig = mergeConfig(shared, {
  // Some files put another driver in its place, for themselves alone.
  test: { isolate: true, globalSetup: ["@turnkeep/servers/vitest-dynamo"] },
});
export default config;
