import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** What an installation takes on disk: the bytes of its files, each once, and how many packages it has. */
export function footprintOf(folder: string): { readonly megabytes: number; readonly packages: number } {
  const installed = join(folder, "node_modules");
  const bytes = bytesIn(installed);
  // pnpm keeps one folder for each package here, beside its own two entries.
  const packages = readdirSync(join(installed, ".pnpm")).filter(
    (name) => name !== "node_modules" && name !== "lock.yaml",
  );
  return { megabytes: bytes / 1e6, packages: packages.length };
}

function bytesIn(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    // Links lead to what is counted in its own place.
    if (stat.isDirectory()) bytes += bytesIn(path);
    else if (stat.isFile()) bytes += stat.size;
  }
  return bytes;
}
