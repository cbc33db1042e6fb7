import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

const newest: ViteUserConfig = mergeConfig(shared, {
  test: { name: "newest", globalSetup: ["@turnkeep/servers/vitest-postgres"] },
});

/** The tests of runs, with the oldest version that the bridge admits. */
const oldest: ViteUserConfig = mergeConfig(shared, {
  resolve: { alias: [{ find: /^@tanstack\/ai(\/.*)?$/, replacement: "tanstack-ai052$1" }] },
  test: { name: "0.52.1" },
});

const config: ViteUserConfig = {
  test: {
    projects: [
      newest,
      { ...oldest, test: { ...oldest.test, include: ["test/{approval,chat,given}.test.ts"] } },
    ],
  },
};
export default config;
