import { defineConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

/**
 * Core imports no sibling, so its tests need no `source` condition; and under it Node would load the TypeScript sources
 * of other packages that ship some beneath that name, such as a dependency of the AI SDK.
 */
const config: ViteUserConfig = defineConfig({
  test: shared.test ?? {},
});

export default config;
