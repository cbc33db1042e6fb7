import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Of this package. This file and its build both lie one folder below the package. */
export function packageVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Of the core that the store is tested against. */
export function coreVersion(): string {
  const { version } = createRequire(import.meta.url)("@turnkeep/core/package.json") as { version: string };
  return version;
}
