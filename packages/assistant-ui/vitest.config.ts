import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const source = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * Siblings' sources under aliases instead of the condition `source`: under that one Node would load the TypeScript
 * sources of other packages that ship some beneath that name, such as a dependency of the AI SDK.
 */
const config: ViteUserConfig = defineConfig({
  resolve: {
    alias: [
      { find: /^@turnkeep\/ai-sdk$/, replacement: source("ai-sdk/src/index.ts") },
      { find: /^@turnkeep\/ai-sdk\/client$/, replacement: source("ai-sdk/src/client.ts") },
      { find: /^@turnkeep\/core$/, replacement: source("core/src/index.ts") },
      { find: /^@turnkeep\/core\/(format-kit|processors|store-kit)$/, replacement: source("core/src/$1.ts") },
      { find: /^@turnkeep\/formats\/(.*)$/, replacement: source("formats/src/$1.ts") },
      { find: /^@turnkeep\/store-sqlite$/, replacement: source("store-sqlite/src/index.ts") },
    ],
  },
  // assistant-ui takes a second to load: once, and not once for each file.
  test: { ...shared.test, isolate: false },
});
export default config;
