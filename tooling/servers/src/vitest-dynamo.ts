import type { TestProject } from "vitest/node";
import { startDynamo } from "./dynamo.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the DynamoDB Local that `@turnkeep/servers/vitest-dynamo` started for this package. */
    dynamoUrl: string;
  }
}

/**
 * A `globalSetup` of vitest: one DynamoDB Local for a package's tests. A test file gets its address with
 * `inject("dynamoUrl")`, and makes a table of its own.
 *
 * @example
 * ```ts
 * import { defineConfig } from "vitest/config";
 *
 * export default defineConfig({ test: { globalSetup: ["@turnkeep/servers/vitest-dynamo"] } });
 * ```
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startDynamo();
  project.provide("dynamoUrl", server.url);
  return () => server.stop();
}
