import type { ViteUserConfig } from "vitest/config";
import { setApart, sharedByAlias } from "../../vitest.shared.ts";

// The first puts another major of the AI SDK in its place. The others leave turns behind that never end, of processes that have
// died in them: each looks for news every second, for hours where another file advances a clock.
const config: ViteUserConfig = setApart(
  ["test/ai-sdk-6.test.ts", "test/crash.test.ts", "test/turns.test.ts"],
  sharedByAlias,
);
export default config;
