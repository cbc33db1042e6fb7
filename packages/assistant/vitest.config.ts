import type { ViteUserConfig } from "vitest/config";
import { setApart, sharedByAlias } from "../../vitest.shared.ts";

// It puts another major of the AI SDK in its place.
const config: ViteUserConfig = setApart(["test/ai-sdk-6.test.ts"], sharedByAlias);
export default config;
