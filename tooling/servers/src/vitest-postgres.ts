// What the declaration below adds to.
import type {} from "vitest";
import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the Postgres server that `@turnkeep/servers/vitest-postgres` started for this package. */
    postgresUrl: string;
  }
}

/**
 * A `globalSetup` of vitest: one Postgres for a package's tests. A test file gets its address with
 * `inject("postgresUrl")` and its own database with `createDatabase`.
 *
 * @example
 * ```ts
 * import { defineConfig } from "vitest/config";
 *
 * export default defineConfig({ test: { globalSetup: ["@turnkeep/servers/vitest-postgres"] } });
 * ```
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  project.provide("postgresUrl", server.url);
  return () => server.stop();
}
