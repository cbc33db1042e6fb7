import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, watch, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WriterTask } from "./writer.ts";

const bundles = new Map<string, Promise<string>>();

/**
 * Bundles a program of a package's tests from the workspace's sources, so that another process runs what the tests run,
 * whether or not the packages have been built. It lies one folder below the package, as `dist` does. Done once.
 *
 * @param packages `brings`: those that become part of it; the others it must find where it runs. `external`: what the
 * package's manifest names for its tests alone, and is not to be bundled.
 */
export function bundled(program: URL, packages: BundledPackages = {}): Promise<string> {
  const file = fileURLToPath(program);
  const known = bundles.get(file) ?? bundle(file, packages);
  bundles.set(file, known);
  return known;
}

interface BundledPackages {
  readonly brings?: RegExp;
  readonly external?: RegExp[];
}

async function bundle(
  file: string,
  { brings = /^@turnkeep\//, external = [] }: BundledPackages,
): Promise<string> {
  // Most who load this file bundle nothing.
  const { build } = await import("tsdown");
  const root = dirname(dirname(file));
  const name = basename(file, ".ts");
  await build({
    cwd: root,
    config: false,
    entry: { [name]: file },
    outDir: ".cache",
    format: "esm",
    platform: "node",
    fixedExtension: false,
    target: "node20.19",
    dts: false,
    clean: false,
    logLevel: "error",
    noExternal: [brings],
    external,
    inputOptions: { resolve: { conditionNames: ["source", "import", "node", "default"] } },
  });
  return join(root, ".cache", `${name}.js`);
}

/** Runs a program with a task; answers what it printed, as JSON, or that it was killed. Rejects with its errors. */
export async function resultOf<T>(program: string, task: object): Promise<T | "SIGKILL"> {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [printed, failed] = ["", ""];
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  child.stderr.on("data", (chunk) => {
    failed += chunk;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (signal === "SIGKILL") return signal;
  if (code !== 0) throw new Error(failed);
  return JSON.parse(printed) as T;
}

/** Another process that writes. */
export interface Writer {
  /** Resolves when its log has so many acknowledged adds; rejects if it ends with fewer. */
  acknowledged(count: number): Promise<void>;
  /** With SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves when it has ended well; rejects with what it printed. */
  ended(): Promise<void>;
}

export function startWriter(program: string, task: WriterTask): Writer {
  writeFileSync(task.log, "");
  const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  child.stderr?.on("data", (chunk) => {
    printed += chunk;
  });
  const exited = once(child, "close");
  return {
    async acknowledged(count) {
      const watcher = watch(task.log);
      try {
        while (acknowledgedIn(task.log) < count) {
          const changed = once(watcher, "change").then(() => true);
          const goesOn = await Promise.race([changed, exited.then(() => false)]);
          if (!goesOn && acknowledgedIn(task.log) < count) {
            throw new Error(`${task.client} ended after ${acknowledgedIn(task.log)} adds: ${printed}`);
          }
        }
      } finally {
        watcher.close();
      }
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async ended() {
      const [code] = await exited;
      if (code !== 0) throw new Error(`${task.client} ended with ${code}: ${printed}`);
    },
  };
}

function acknowledgedIn(log: string): number {
  return existsSync(log) ? (readFileSync(log, "utf8").match(/"returned":\d/g)?.length ?? 0) : 0;
}
