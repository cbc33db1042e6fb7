import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { execute } from "../src/runner/execute.mjs";
import { pnpmEnvironment } from "../src/runner/pnpm.mjs";
import { root, workspacePackages } from "../src/runner/workspace.mjs";
import { readTree } from "../src/structure/tree.mjs";

/** A copy of the repository with a history of its own, in which versions may be raised and nothing is published. */
let copy: string;
let env: NodeJS.ProcessEnv;

const isThorough = Boolean(process.env.TURNKEEP_THOROUGH);
const published = workspacePackages().filter(({ manifest }) => manifest.private !== true);

async function run(command: string, args: readonly string[]): Promise<string> {
  const { ok, output } = await execute(command, args, { cwd: copy, env });
  if (!ok) throw new Error(`${command} ${args.join(" ")} failed:\n${output}`);
  return output;
}

/** Also where nothing has changed: right after a release no version waits to be raised. */
async function commit(): Promise<void> {
  await run("git", ["add", "--all"]);
  await run("git", [
    "-c",
    "user.name=check",
    "-c",
    "user.email=check@localhost",
    "commit",
    "--allow-empty",
    "-qm",
    "check",
  ]);
}

function versions(): Record<string, string> {
  return Object.fromEntries(
    workspacePackages(copy)
      .filter(({ manifest }) => manifest.private !== true)
      .map(({ name, manifest }) => [name, manifest.version]),
  );
}

type Bump = "patch" | "minor" | "major";

function bumpBetween(before: string, after: string): Bump {
  const [from, to] = [before.split("."), after.split(".")];
  return from[0] !== to[0] ? "major" : from[1] !== to[1] ? "minor" : "patch";
}

/** Raises the versions as a release would with one more change of these, and answers which changed by what. */
async function release(names: readonly string[], bump: Bump): Promise<Record<string, Bump>> {
  const before = versions();
  const changed = names.map((name) => `"${name}": ${bump}\n`).join("");
  writeFileSync(join(copy, ".changeset", "check.md"), `---\n${changed}---\n\nA change.\n`);
  await commit();
  await run(join(root, "node_modules", ".bin", "changeset"), ["version"]);
  await commit();
  return Object.fromEntries(
    Object.entries(versions())
      .filter(([each, version]) => before[each] !== version)
      .map(([each, version]) => [each, bumpBetween(before[each] as string, version)]),
  );
}

const stores = published.map(({ name }) => name).filter((name) => name.startsWith("@turnkeep/store-"));
/** One release of all says it of each: no store depends on another, of which the structure check makes sure. */
const released = isThorough ? stores.map((name) => [name]) : [stores];

beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), "turnkeep-release-"));
  env = await pnpmEnvironment();
  const built = published.map(({ folder }) => `${folder}/dist`);
  const linked = workspacePackages().map(({ folder }) => `${folder}/node_modules`);
  for (const path of [...readTree(root).files, ...built]) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  // By these links the packages' versions find each other.
  for (const path of linked.filter((each) => existsSync(join(root, each)))) {
    cpSync(join(root, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
  }
  await run("git", ["init", "-q", "-b", "main"]);
  await commit();
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe("a release", () => {
  it("begins every package at 1.0.0", async () => {
    await run(join(root, "node_modules", ".bin", "changeset"), ["version"]);
    await commit();
    const first = Object.fromEntries(
      published.map(({ name, manifest }) => [
        name,
        manifest.version === "0.0.0" ? "1.0.0" : expect.any(String),
      ]),
    );
    expect(versions()).toEqual(first);
  });

  it("raises no version and writes no changelog of what is not published, examples among it", async () => {
    const others = workspacePackages(copy).filter(({ manifest }) => manifest.private === true);
    const before = new Map(workspacePackages().map(({ name, manifest }) => [name, manifest.version]));
    expect(others.filter(({ folder }) => existsSync(join(copy, folder, "CHANGELOG.md")))).toEqual([]);
    expect(others.filter(({ name, manifest }) => manifest.version !== before.get(name))).toEqual([]);
  });

  it.runIf(isThorough)(
    "would publish each package with what its files name, and nothing of the workspace's",
    async () => {
      const output = await run("pnpm", [
        "--recursive",
        "publish",
        "--dry-run",
        "--no-git-checks",
        "--report-summary",
      ]);
      const summary = JSON.parse(readFileSync(join(copy, "pnpm-publish-summary.json"), "utf8"));
      rmSync(join(copy, "pnpm-publish-summary.json"));
      const names = summary.publishedPackages.map(({ name }: { name: string }) => name);
      expect([...names].sort(), output).toEqual(published.map(({ name }) => name).sort());
    },
  );

  it("of a patch of core leaves the stores and the kit alone", async () => {
    const changed = await release(["@turnkeep/core"], "patch");
    expect(changed["@turnkeep/core"]).toBe("patch");
    expect(Object.keys(changed).filter((name) => /store-|conformance/.test(name))).toEqual([]);
    expect(new Set(Object.values(changed))).toEqual(new Set(["patch"]));
  });

  it("of a new feature of core forces no major version on anybody", async () => {
    const changed = await release(["@turnkeep/core"], "minor");
    expect(changed["@turnkeep/core"]).toBe("minor");
    expect(Object.values(changed)).not.toContain("major");
  });

  it.each(released.map((names) => ({ names })))("of $names is their own", async ({ names }) => {
    // The command brings stores with it; nobody else notices.
    const { turnkeep: _, ...changed } = await release(names, "patch");
    expect(changed).toEqual(Object.fromEntries(names.map((name) => [name, "patch"])));
  });
});
