import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { cached } from "./cache.ts";
import { run } from "./process.ts";

/** A program out of Debian packages, and the environment that lets it find the libraries fetched with it. */
export interface UnpackedProgram {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Downloads Debian packages, and those libraries that the machine lacks, with apt, which checks their signatures, and
 * unpacks them into the cache under the first one's name; nothing is installed. Works on Debian and what derives from it.
 */
export async function fetchDebianProgram(
  packages: readonly [string, ...string[]],
  path: string,
  env: NodeJS.ProcessEnv,
): Promise<UnpackedProgram> {
  const architecture = (await run("dpkg", ["--print-architecture"], { env })).trim();
  const folder = await cached(`${packages[0]}-${await release()}-${architecture}`, env, async (root) => {
    await unpack(packages, root, env);
    if ((await missingLibraries(root, path, env)).length > 0) {
      await unpack(await librariesOf(packages, env), root, env);
    }
    const missing = await missingLibraries(root, path, env);
    if (missing.length > 0)
      throw new Error(`${packages.join(", ")} need ${missing.join(", ")}, not found in their packages`);
  });
  return { command: join(folder, path), env: withLibraries(await libraryFolders(folder), env) };
}

async function unpack(packages: readonly string[], root: string, env: NodeJS.ProcessEnv): Promise<void> {
  const downloads = join(root, "download");
  await mkdir(downloads);
  // As root, apt would download as a user of its own, who cannot write here.
  const download = ["-q", "-o", "APT::Sandbox::User=root", "download", ...packages];
  try {
    await run("apt-get", download, { cwd: downloads, env });
  } catch (error) {
    // The lists of a fresh container are empty, and only root may fetch them.
    if (process.getuid?.() !== 0 || !existsSync("/etc/apt")) throw error;
    await run("apt-get", ["-q", "update"], { env });
    await run("apt-get", download, { cwd: downloads, env });
  }
  for (const file of await readdir(downloads))
    await run("dpkg", ["-x", join(downloads, file), root], { env });
  await rm(downloads, { recursive: true });
}

/** The library packages that the packages name as their dependencies. */
async function librariesOf(packages: readonly string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  const text = await run("apt-cache", ["depends", ...packages], { env: { ...env, LC_ALL: "C" } });
  return [...text.matchAll(/^ *\|?Depends: (lib(?!c6\b)\S+)$/gm)].map((match) => match[1] ?? "");
}

async function missingLibraries(root: string, path: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const text = await run("ldd", [join(root, path)], { env: withLibraries(await libraryFolders(root), env) });
  return [...text.matchAll(/^\s*(\S+) => not found$/gm)].map((match) => match[1] ?? "");
}

async function libraryFolders(root: string): Promise<string[]> {
  const folders: string[] = [];
  for (const parent of [join(root, "usr/lib"), join(root, "lib")]) {
    const entries = await readdir(parent).catch(() => []);
    folders.push(...entries.filter((name) => name.endsWith("-linux-gnu")).map((name) => join(parent, name)));
  }
  return folders;
}

function withLibraries(folders: readonly string[], env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const path = [...folders, ...(env.LD_LIBRARY_PATH ? [env.LD_LIBRARY_PATH] : [])].join(delimiter);
  return path === "" ? env : { ...env, LD_LIBRARY_PATH: path };
}

async function release(): Promise<string> {
  const text = await readFile("/etc/os-release", "utf8");
  const field = (name: string): string => new RegExp(`^${name}="?([^"\\n]*)`, "m").exec(text)?.[1] ?? "";
  return `${field("ID")}${field("VERSION_ID")}`;
}
