import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";

const propertyRuns = fileURLToPath(new URL("vitest.properties.ts", import.meta.url));

/** Bounds a hang, and says nothing of speed: machines are of any kind. Properties that run more often may take longer. */
const longestMs = 120_000 * Math.max(1, Number(process.env.TURNKEEP_PROPERTY_RUNS || 100) / 100);

/** What only `npm run thorough` runs. */
const longer = process.env.TURNKEEP_THOROUGH ? [] : ["**/*.thorough.test.ts"];

/** One configuration for every package: sources instead of builds, no retries, a bounded wait, modules that are loaded once. */
export const shared: ViteUserConfig = defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"], externalConditions: ["source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...longer],
    setupFiles: process.env.TURNKEEP_PROPERTY_RUNS ? [propertyRuns] : [],
    retry: 0,
    // A file leaves nothing behind, and to load a driver, or core and fast-check, is most of what many take: once for all. A
    // file that mocks a module, or does leave something behind, is set apart.
    isolate: false,
    // Vitest leaves one core free, which on a machine of two is half of it; most tests here wait for a database.
    maxWorkers: "100%",
    // Without it a poll ends after a second, which a busy machine may need.
    expect: { poll: { timeout: longestMs / 2 } },
    testTimeout: longestMs,
    hookTimeout: longestMs,
  },
});

/** The same package's tests, each of `files` with modules and a process of its own, all others with shared ones. */
export function setApart(files: readonly string[], config: ViteUserConfig): ViteUserConfig {
  const { globalSetup = [], exclude = [], ...test } = config.test ?? {};
  const together = { ...test, name: "together", exclude: [...exclude, ...files] };
  const apart = { ...test, name: "apart", exclude, include: [...files], isolate: true };
  return { test: { globalSetup, projects: [together, apart].map((test) => ({ ...config, test })) } };
}

const packages = fileURLToPath(new URL("packages/", import.meta.url));
const ours = `^@turnkeep/(${readdirSync(packages).join("|")})`;

/**
 * The same with our packages' sources under aliases instead of the condition `source`: under that one Node would load the
 * TypeScript sources of other packages that ship some beneath that name, such as a dependency of the AI SDK.
 */
export const sharedByAlias: ViteUserConfig = defineConfig({
  resolve: {
    alias: [
      { find: new RegExp(`${ours}$`), replacement: `${packages}$1/src/index.ts` },
      { find: new RegExp(`${ours}/(.*)$`), replacement: `${packages}$1/src/$2.ts` },
    ],
  },
  test: shared.test ?? {},
});
