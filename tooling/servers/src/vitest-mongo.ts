import type { TestProject } from "vitest/node";
import { startMongo } from "./mongo.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the MongoDB server that `@turnkeep/servers/vitest-mongo` started for this package. */
    mongoUrl: string;
  }
}

/**
 * A `globalSetup` of vitest: one standalone MongoDB for a package's tests. A test file gets its address with
 * `inject("mongoUrl")`, and keeps to a database of its own. A replica set is for the files that need one to start.
 *
 * @example
 * ```ts
 * import { defineConfig } from "vitest/config";
 *
 * export default defineConfig({ test: { globalSetup: ["@turnkeep/servers/vitest-mongo"] } });
 * ```
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startMongo();
  project.provide("mongoUrl", server.url);
  return server.stop;
}
