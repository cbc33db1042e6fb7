import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { sharedByAlias } from "../../vitest.shared.ts";

// The SDK takes a second to load: once, and not once for each file.
const loadedOnce: ViteUserConfig = mergeConfig(sharedByAlias, { test: { isolate: false } });

const newest: ViteUserConfig = mergeConfig(loadedOnce, {
  test: { name: "ai 7", globalSetup: ["@turnkeep/servers/vitest-postgres"] },
});

/** The tests that need no database, over the other major. */
const older: ViteUserConfig = mergeConfig(loadedOnce, {
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
