import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

/** Some of the tests, with one of LangChain's packages in the oldest version that the bridge admits. */
function oldest(name: string, files: readonly string[], find: RegExp, replacement: string): ViteUserConfig {
  const include = files.map((file) => `test/${file}.test.ts`);
  const config: ViteUserConfig = mergeConfig(shared, { resolve: { alias: [{ find, replacement }] } });
  return { ...config, test: { ...config.test, name, include } };
}

const newest: ViteUserConfig = mergeConfig(shared, {
  test: { name: "newest", globalSetup: ["@turnkeep/servers/vitest-postgres"] },
});

const config: ViteUserConfig = {
  test: {
    projects: [
      newest,
      oldest("core 1.0.0", ["format", "history"], /^@langchain\/core\/(.*)$/, "langchain-core100/$1"),
      oldest("langchain 1.0.3", ["agent", "align", "owner"], /^langchain$/, "langchain103"),
    ],
  },
};
export default config;
