import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

/**
 * Core's sources under an alias instead of the condition `source`: under that one Node would load the TypeScript sources
 * of a dependency of the AI SDK too.
 */
const config: ViteUserConfig = defineConfig({
  resolve: {
    alias: { "@turnkeep/core": fileURLToPath(new URL("../../packages/core/src/index.ts", import.meta.url)) },
  },
  test: shared.test ?? {},
});

export default config;
