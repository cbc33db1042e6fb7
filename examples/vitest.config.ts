import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { sharedByAlias } from "../vitest.shared.ts";

/** All of them in one run: to start Vitest takes longer than most of their tests. */
const config: ViteUserConfig = mergeConfig(sharedByAlias, {
  root: import.meta.dirname,
  test: {
    include: ["*/test/*.test.ts"],
    // It runs the whole kit, beside all others.
    exclude: ["smallest-store"],
    globalSetup: [
      "../tooling/servers/src/vitest-dynamo.ts",
      "../tooling/servers/src/vitest-mongo.ts",
      "../tooling/servers/src/vitest-postgres.ts",
      "../tooling/servers/src/vitest-redis.ts",
    ],
  },
});
export default config;
