import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const config: ViteUserConfig = mergeConfig(shared, {
  // Some tests download a server.
  test: {
    globalSetup: [
      "@turnkeep/servers/vitest-mongo",
      "@turnkeep/servers/vitest-dynamo",
      "@turnkeep/servers/vitest-postgres",
      "@turnkeep/servers/vitest-redis",
    ],
    testTimeout: 120_000,
  },
});

export default config;
