import type { ViteUserConfig } from "vitest/config";
import { setApart, shared } from "../../vitest.shared.ts";

// It puts others in place of the vocabularies.
const config: ViteUserConfig = setApart(["test/loading.test.ts"], shared);
export default config;
