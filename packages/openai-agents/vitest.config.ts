import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { sharedByAlias } from "../../vitest.shared.ts";

const newest: ViteUserConfig = mergeConfig(sharedByAlias, {
  test: { name: "agents-core 0.20", globalSetup: ["@turnkeep/servers/vitest-postgres"] },
});

/** The tests that need no database, with the oldest version that the bridge admits. */
const oldest: ViteUserConfig = mergeConfig(sharedByAlias, {
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
