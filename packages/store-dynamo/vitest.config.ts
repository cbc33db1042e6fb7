import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const config: ViteUserConfig = mergeConfig(shared, {
  // DynamoDB Local reads all of a query's range for each of its pages: two kits with 100 MB each exhaust its heap.
  test: { globalSetup: ["@turnkeep/servers/vitest-dynamo"], fileParallelism: false },
});
export default config;
