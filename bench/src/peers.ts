import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The folder `bench/`, from where the bundle runs. */
export const benchFolder: string = join(import.meta.dirname, "..");

/** The pnpm that runs this. */
export function pnpm(): string {
  const { npm_execpath: file = "" } = process.env;
  if (!/pnpm/.test(file)) throw new Error("Run the benchmarks by pnpm: pnpm bench");
  return file;
}

/**
 * What is measured beside ours: a folder under `peers/` with a manifest and a lock file of its own, no part of the
 * workspace, so that only who measures installs it.
 */
export class Peer {
  readonly folder: string;

  constructor(name: string) {
    this.folder = join(benchFolder, "peers", name);
  }

  /** Installs it as locked, unless it is. */
  install(): void {
    if (existsSync(join(this.folder, "node_modules", ".modules.yaml"))) return;
    const flags = ["install", "--ignore-workspace", "--frozen-lockfile", "--prod"];
    execFileSync(process.execPath, [pnpm(), ...flags], {
      cwd: this.folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }

  /** What a module in the peer's folder exports, in the shape that the benchmark uses of it. */
  async load<T>(file: string): Promise<T> {
    return (await import(pathToFileURL(join(this.folder, file)).href)) as T;
  }

  /** The versions of what its manifest names. */
  versions(): Record<string, string> {
    const { dependencies } = manifestIn(this.folder);
    return Object.fromEntries(
      Object.keys(dependencies ?? {}).map((name) => [
        name,
        manifestIn(join(this.folder, "node_modules", name)).version ?? "unknown",
      ]),
    );
  }
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
