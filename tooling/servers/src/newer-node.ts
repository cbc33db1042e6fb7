import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * A Node that has `node:sqlite`, for what a test runs in a process of its own: the running one, else the one of an npm
 * package, which has binaries for Linux.
 */
export function newerNode(): string {
  if (process.getBuiltinModule("node:sqlite") !== undefined) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "bin", "node");
  } catch (cause) {
    throw new Error(
      `These tests need Node 22.13 or later: this is ${process.version}, and ${name} is not installed`,
      { cause },
    );
  }
}
