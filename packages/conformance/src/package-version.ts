import { readFileSync } from "node:fs";

/** Of this package. This file and its build both lie one folder below the package. */
export function packageVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
