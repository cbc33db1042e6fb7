import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const source = (path: string): string => fileURLToPath(new URL(`../../packages/${path}`, import.meta.url));

/**
 * Our packages' sources under aliases instead of the condition `source`: under that one Node would load the TypeScript
 * sources of other packages that ship some beneath that name, such as a dependency of the AI SDK.
 */
const config: ViteUserConfig = defineConfig({
  resolve: {
    alias: [
      { find: /^@turnkeep\/assistant-ui$/, replacement: source("assistant-ui/src/index.ts") },
      { find: /^@turnkeep\/core$/, replacement: source("core/src/index.ts") },
      { find: /^@turnkeep\/core\/format-kit$/, replacement: source("core/src/format-kit.ts") },
      { find: /^@turnkeep\/core\/store-kit$/, replacement: source("core/src/store-kit.ts") },
      { find: /^@turnkeep\/formats\/(.*)$/, replacement: source("formats/src/$1.ts") },
      { find: /^@turnkeep\/ai-sdk$/, replacement: source("ai-sdk/src/index.ts") },
      { find: /^@turnkeep\/ai-sdk\/client$/, replacement: source("ai-sdk/src/client.ts") },
    ],
  },
  test: shared.test ?? {},
});

export default config;
