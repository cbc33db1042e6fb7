import { defineConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

/** What a user of the published packages gets. It packs what the build made, so it runs after that. */
const config: ViteUserConfig = defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ["published/**/*.test.ts"],
    globalSetup: ["published/pack.ts", "@turnkeep/servers/vitest-postgres"],
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
export default config;
