import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const config: ViteUserConfig = mergeConfig(shared, {
  // A file puts another driver in its place, for itself alone.
  test: { isolate: true, globalSetup: ["@turnkeep/servers/vitest-redis"] },
});
export default config;
