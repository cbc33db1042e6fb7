import type { ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const config: ViteUserConfig = shared;
export default config;
