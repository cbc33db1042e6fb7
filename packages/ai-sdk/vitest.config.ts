import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { sharedByAlias } from "../../vitest.shared.ts";

const newest: ViteUserConfig = mergeConfig(sharedByAlias, {
  test: { name: "ai 7", globalSetup: ["@turnkeep/servers/vitest-postgres"] },
});

/** The tests that need no database, over the other major. */
const older: ViteUserConfig = mergeConfig(sharedByAlias, {
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
          include: ["test/{assistant-stream,branches,chat,chat-*,chunks,client,steps}.test.ts"],
        },
      },
    ],
  },
};
export default config;
