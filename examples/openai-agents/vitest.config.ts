import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const source = (path: string): string => fileURLToPath(new URL(`../../packages/${path}`, import.meta.url));

/** Not the condition `source`: under it Node would load the sources of a dependency of the SDK. */
const config: ViteUserConfig = defineConfig({
  resolve: {
    alias: [
      { find: /^@turnkeep\/(core|openai-agents)$/, replacement: source("$1/src/index.ts") },
      { find: /^@turnkeep\/core\/(format-kit|store-kit)$/, replacement: source("core/src/$1.ts") },
    ],
  },
  test: shared.test ?? {},
});
export default config;
