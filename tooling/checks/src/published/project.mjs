import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { execute } from "../runner/execute.mjs";
import { root } from "../runner/workspace.mjs";

/**
 * An empty project of a user's, outside the repository.
 */
export class UserProject {
  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
  }

  static create() {
    const folder = mkdtempSync(join(tmpdir(), "turnkeep-user-"));
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ name: "user", private: true, type: "module" }),
    );
    return new UserProject(folder);
  }

  /**
   * Installs packages with npm, by tarball or by name and version, and nothing else: no script runs.
   *
   * @param {readonly string[]} specifiers
   */
  async install(specifiers) {
    const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
    const install = ["install", ...quiet, ...specifiers];
    await this.command("npm", [...install, "--prefer-offline"]).catch((error) => {
      // npm's cache may hold a listing that is older than the version.
      if (!String(error).includes("ETARGET")) throw error;
      return this.command("npm", install);
    });
  }

  /**
   * Copies a folder of the repository into the project, without what an installation or a build made there.
   *
   * @param {string} folder relative to the top of the repository
   */
  copy(folder) {
    cpSync(join(root, folder), this.folder, {
      recursive: true,
      filter: (source) => !["node_modules", "dist"].includes(basename(source)),
    });
  }

  /**
   * Points what the project's manifest asks for at these packages: ours at their tarballs.
   *
   * @param {ReadonlyMap<string, string>} tarballs
   */
  useTarballs(tarballs) {
    const file = join(this.folder, "package.json");
    const manifest = JSON.parse(readFileSync(file, "utf8"));
    for (const kind of ["dependencies", "devDependencies"]) {
      for (const name of Object.keys(manifest[kind] ?? {})) {
        const tarball = tarballs.get(name);
        if (tarball !== undefined) manifest[kind][name] = `file:${tarball}`;
      }
    }
    // Versions that are not released yet meet no range of released ones.
    for (const name of Object.keys(manifest.peerDependencies ?? {})) {
      if (tarballs.has(name)) manifest.peerDependencies[name] = "*";
    }
    writeFileSync(file, JSON.stringify(manifest, null, 2));
  }

  /**
   * What was installed, by npm's own lock file: each package with the packages that it asked for.
   *
   * @returns {Map<string, readonly string[]>}
   */
  installed() {
    const lock = JSON.parse(readFileSync(join(this.folder, "package-lock.json"), "utf8"));
    const marker = "node_modules/";
    /** @type {Map<string, string[]>} */
    const installed = new Map();
    for (const [path, manifest] of Object.entries(lock.packages)) {
      if (!path.startsWith(marker)) continue;
      const { dependencies, optionalDependencies, peerDependencies } = manifest;
      const name = path.slice(path.lastIndexOf(marker) + marker.length);
      // One that is there in two versions needs what either needs.
      const needed = installed.get(name) ?? [];
      needed.push(...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }));
      installed.set(name, needed);
    }
    return installed;
  }

  /**
   * Checks a program's types, strictly and down into our packages' declarations, and compiles it. What is wrong
   * within another library's declarations is that library's matter (PGlite's need the DOM's types, say).
   *
   * @param {string} code
   * @param {Readonly<Record<string, string>>} [beside] further files that it imports, by their names
   * @param {Readonly<Record<string, unknown>>} [own] the project's own compiler options
   * @param {string} [compiler] the folder of another compiler than the workspace's
   * @returns {Promise<string>} the compiled file
   */
  async compile(code, beside = {}, own = {}, compiler) {
    const options = {
      target: "ES2023",
      lib: ["ES2023"],
      module: "NodeNext",
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      // The types of Node itself are the project's own matter; every user of TypeScript on Node has them.
      typeRoots: [join(root, "node_modules", "@types")],
      types: ["node"],
      outDir: "out",
      rootDir: ".",
      rewriteRelativeImportExtensions: true,
      ...own,
    };
    writeFileSync(join(this.folder, "example.ts"), code);
    for (const [name, text] of Object.entries(beside)) writeFileSync(join(this.folder, name), text);
    writeFileSync(
      join(this.folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["example.ts"] }),
    );
    // Older compilers know one thread only.
    const threads = compiler === undefined ? ["--singleThreaded"] : [];
    const folder = compiler ?? join(root, "node_modules", "typescript");
    const tsc = [join(folder, "bin", "tsc"), "-p", ".", "--pretty", "false", ...threads];
    const { ok, output, end } = await execute(process.execPath, tsc, { cwd: this.folder });
    const errors = complaintsOf(output);
    if (errors.length > 0) throw new Error(`The types do not hold:\n${errors.join("\n")}`);
    if (!ok && output.trim() === "") throw new Error(`tsc said nothing (${end}).`);
    return join(this.folder, "out", "example.js");
  }

  /**
   * Runs a compiled program and answers what it printed.
   *
   * @param {string} file
   * @param {NodeJS.ProcessEnv} env
   * @param {readonly string[]} [args]
   */
  run(file, env, args = []) {
    return this.command(process.execPath, [file, ...args], env);
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Runs a command in the project and answers what it printed; rejects with that if it fails.
   *
   * @param {string} command
   * @param {readonly string[]} args
   * @param {NodeJS.ProcessEnv} [env]
   */
  async command(command, args, env = {}) {
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    const { ok, output } = await execute(command, args, {
      cwd: this.folder,
      env: { ...inherited, NO_COLOR: "1", ...env },
    });
    if (!ok) throw new Error(`${command} ${args.slice(0, 2).join(" ")} failed:\n${output}`);
    return output;
  }
}

/**
 * What tsc says, but for errors within the declarations of libraries that are not ours.
 *
 * @param {string} output
 * @returns {string[]}
 */
export function complaintsOf(output) {
  const foreign = /^node_modules\/(?!@?turnkeep\/)/;
  return output.split(/\n(?!\s)/).filter((complaint) => complaint.trim() !== "" && !foreign.test(complaint));
}

/**
 * What `wanted` brings with it: the packages that they ask for, and so on.
 *
 * @param {readonly string[]} wanted
 * @param {Map<string, readonly string[]>} installed
 * @returns {Set<string>}
 */
export function treeOf(wanted, installed) {
  const tree = new Set(wanted);
  for (const name of tree) {
    for (const dependency of installed.get(name) ?? []) if (installed.has(dependency)) tree.add(dependency);
  }
  return tree;
}
