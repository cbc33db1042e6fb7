import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

// A file puts others in place of the vocabularies, for itself alone.
const config: ViteUserConfig = mergeConfig(shared, { test: { isolate: true } });
export default config;
