import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

// LangChain takes seconds to load: once, and not once for each file.
const loadedOnce: ViteUserConfig = mergeConfig(shared, { test: { isolate: false } });

/** Some of the tests, with one of LangChain's packages in the oldest version that the bridge admits. */
function oldest(name: string, files: readonly string[], find: RegExp, replacement: string): ViteUserConfig {
  const include = files.map((file) => `test/${file}.test.ts`);
  const config: ViteUserConfig = mergeConfig(loadedOnce, { resolve: { alias: [{ find, replacement }] } });
  return { ...config, test: { ...config.test, name, include } };
}

const newest: ViteUserConfig = mergeConfig(loadedOnce, {
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
