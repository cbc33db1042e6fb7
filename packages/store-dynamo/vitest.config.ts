import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { setApart, shared } from "../../vitest.shared.ts";

// They put the oldest driver in its place.
const config: ViteUserConfig = setApart(
  ["test/conformance-oldest.test.ts", "test/repeats-oldest.test.ts"],
  mergeConfig(shared, { test: { globalSetup: ["@turnkeep/servers/vitest-dynamo"] } }),
);
export default config;
