import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { sharedByAlias } from "../../vitest.shared.ts";

const config: ViteUserConfig = mergeConfig(sharedByAlias, {
  // assistant-ui takes a second to load: once, and not once for each file.
  test: { isolate: false },
});
export default config;
