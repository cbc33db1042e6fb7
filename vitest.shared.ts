import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const propertyRuns = fileURLToPath(new URL("vitest.properties.ts", import.meta.url));

/** One configuration for every package: sources instead of builds, no retries, a bounded wait. */
export const shared: ViteUserConfig = defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"], externalConditions: ["source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: process.env.TURNKEEP_PROPERTY_RUNS ? [propertyRuns] : [],
    retry: 0,
    // Vitest leaves one core free, which on a machine of two is half of it; most tests here wait for a database.
    maxWorkers: "100%",
    // Bounds a hang, and says nothing of speed: machines are of any kind.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
