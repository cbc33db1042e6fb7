import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const source = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * Siblings' sources under aliases instead of the condition `source`: under that one Node would load the TypeScript
 * sources of a dependency of the SDK that ships some beneath that name.
 */
const base: ViteUserConfig = defineConfig({
  resolve: {
    alias: [
      { find: /^@turnkeep\/(core|conformance|store-postgres)$/, replacement: source("$1/src/index.ts") },
      { find: /^@turnkeep\/core\/(format-kit|processors|store-kit)$/, replacement: source("core/src/$1.ts") },
      { find: /^@turnkeep\/formats\/(.*)$/, replacement: source("formats/src/$1.ts") },
    ],
  },
  test: shared.test ?? {},
});

const newest: ViteUserConfig = mergeConfig(base, {
  test: { name: "agents-core 0.20", globalSetup: ["@turnkeep/servers/vitest-postgres"] },
});

/** The tests that need no database, with the oldest version that the bridge admits. */
const oldest: ViteUserConfig = mergeConfig(base, {
  resolve: { alias: [{ find: /^@openai\/agents-core(.*)$/, replacement: "openai-agents-core016$1" }] },
});

const config: ViteUserConfig = {
  test: {
    projects: [
      newest,
      {
        ...oldest,
        test: { ...oldest.test, name: "agents-core 0.16", include: ["test/run.test.ts"] },
      },
    ],
  },
};
export default config;
