import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { sharedByAlias } from "../../vitest.shared.ts";

const config: ViteUserConfig = mergeConfig(sharedByAlias, {
  // Most of what a file takes is to load core and fast-check, and no file leaves anything behind.
  test: { isolate: false },
});
export default config;
