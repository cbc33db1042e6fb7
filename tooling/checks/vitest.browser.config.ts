import { defineConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

/** What a person sees of the chat that `npm create turnkeep-chat` writes, and of one in Next.js. It packs what the build made, so it runs after that. */
const config: ViteUserConfig = defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ["browser/**/*.test.ts"],
    globalSetup: ["published/pack.ts"],
    testTimeout: 180_000,
    hookTimeout: 600_000,
  },
});
export default config;
