import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: { include: ["test/**/*.test.ts"], retry: 0, testTimeout: 30_000, hookTimeout: 30_000 },
});
export default config;
