import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const source = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * Siblings' sources under aliases instead of the condition `source`: under that one Node would load the TypeScript
 * sources of other packages that ship some beneath that name, such as a dependency of the AI SDK.
 */
const base: ViteUserConfig = defineConfig({
  resolve: {
    alias: [
      { find: /^@turnkeep\/core$/, replacement: source("core/src/index.ts") },
      { find: /^@turnkeep\/core\/(format-kit|processors|store-kit)$/, replacement: source("core/src/$1.ts") },
      { find: /^@turnkeep\/formats\/(.*)$/, replacement: source("formats/src/$1.ts") },
      { find: /^@turnkeep\/store-postgres$/, replacement: source("store-postgres/src/index.ts") },
    ],
  },
  test: shared.test ?? {},
});

const newest: ViteUserConfig = mergeConfig(base, {
  test: { name: "ai 7", globalSetup: ["@turnkeep/servers/vitest-postgres"] },
});

/** The tests that need no database, over the other major. */
const older: ViteUserConfig = mergeConfig(base, {
  resolve: {
    alias: [
      { find: /^ai$/, replacement: "ai6" },
      { find: /^ai\/test$/, replacement: "ai6/test" },
    ],
  },
});

const config: ViteUserConfig = {
  test: {
    projects: [
      newest,
      {
        ...older,
        test: {
          ...older.test,
          name: "ai 6",
          include: ["test/{assistant-stream,branches,chat,chat-store,chunks,client,steps}.test.ts"],
        },
      },
    ],
  },
};
export default config;
