import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { setApart, shared } from "../../vitest.shared.ts";

// It puts the oldest driver in its place.
const config: ViteUserConfig = setApart(
  ["test/oldest-driver.test.ts"],
  mergeConfig(shared, { test: { globalSetup: ["@turnkeep/servers/vitest-redis"] } }),
);
export default config;
