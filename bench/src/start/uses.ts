import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { benchFolder } from "../peers.ts";
import { type Bundle, bundleOf } from "./bundle.ts";

type Use =
  | "all of @turnkeep/core"
  | "createChatMemory"
  | "createChatMemory and a store"
  | "viewOf"
  | "a message helper";

/** What an application imports of ours, by what it does with it. */
const uses: Readonly<Record<Use, string>> = {
  "all of @turnkeep/core": 'export * from "@turnkeep/core";',
  createChatMemory: 'export { createChatMemory } from "@turnkeep/core";',
  "createChatMemory and a store":
    'export { createChatMemory } from "@turnkeep/core"; export { postgresStore } from "@turnkeep/store-postgres";',
  viewOf: 'export { viewOf } from "@turnkeep/core";',
  "a message helper": 'export { user } from "@turnkeep/core";',
};

/** What of the built packages such an application has in its bundle, drivers apart. */
export async function bundleOfUse(use: Use): Promise<Bundle> {
  const folder = join(benchFolder, ".cache", "sizes");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${use.replaceAll(/\W+/g, "-")}.mjs`);
  writeFileSync(file, uses[use]);
  return bundleOf([file], { folder, external: ["pg", "@electric-sql/pglite"] });
}
