import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { benchFolder, Peer, pnpm } from "../peers.ts";

const top = join(benchFolder, "..");
/** Where the packed packages and the projects that install them stand: outside of the workspace's packages. */
const place = join(benchFolder, ".cache/start");

/** What a user installs, and imports to keep conversations. */
export interface Subject {
  readonly name: string;
  readonly folder: string;
  readonly imports: readonly string[];
}

/** A package of ours as it is published. */
export interface Published {
  readonly name: string;
  readonly folder: string;
  /** Entry → built file. */
  readonly entries: ReadonlyMap<string, string>;
  /** What a bundle of it leaves to whoever uses it. */
  readonly peers: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, { readonly default?: string } | string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Builds all packages: what a process of its own imports of them is their builds. */
export function buildPackages(): void {
  run(["run", "build"], top);
}

/** Builds all packages and says what each publishes. */
export function publishedPackages(): Published[] {
  buildPackages();
  return readdirSync(join(top, "packages")).flatMap((directory): Published[] => {
    const folder = join(top, "packages", directory);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    const { name, exports = {}, peerDependencies = {} } = manifest;
    if (manifest.private === true) return [];
    const entries = Object.entries(exports).flatMap(([entry, target]): [string, string][] =>
      typeof target === "string" || target.default === undefined
        ? []
        : [[join(name, entry), join(folder, target.default)]],
    );
    return [{ name, folder, entries: new Map(entries), peers: Object.keys(peerDependencies) }];
  });
}

/** Our packages installed from their tarballs, as a user's project would. */
export function ourProjects(published: readonly Published[]): Subject[] {
  rmSync(place, { recursive: true, force: true });
  const tarballs = new Map<string, string>();
  for (const name of ["core", "store-postgres", "tokens"].map((short) => `@turnkeep/${short}`)) {
    const found = published.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`There is no published package ${name}`);
    const into = join(place, "tarballs", name);
    mkdirSync(into, { recursive: true });
    run(["pack", "--pack-destination", into], found.folder);
    const [tarball] = readdirSync(into);
    tarballs.set(name, `file:${join(into, tarball ?? "")}`);
  }
  const { version: pg } = JSON.parse(
    readFileSync(join(benchFolder, "node_modules/pg/package.json"), "utf8"),
  ) as {
    readonly version: string;
  };
  return [
    { name: "core", packages: ["@turnkeep/core"] },
    { name: "core, store-postgres, pg", packages: ["@turnkeep/core", "@turnkeep/store-postgres", "pg"] },
    {
      name: "core, store-postgres, pg, tokens",
      packages: ["@turnkeep/core", "@turnkeep/store-postgres", "pg", "@turnkeep/tokens"],
    },
  ].map(({ name, packages }): Subject => {
    const folder = join(place, name.replaceAll(", ", "-"));
    mkdirSync(folder, { recursive: true });
    const asked = Object.fromEntries(packages.map((one) => [one, tarballs.get(one) ?? pg]));
    const manifest = { private: true, type: "module", dependencies: asked };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    run(["install", "--ignore-workspace", "--prod", "--ignore-scripts", "--no-frozen-lockfile"], folder);
    return { name: `turnkeep: ${name}`, folder, imports: packages };
  });
}

/** Each with what keeps conversations in Postgres, where it has that. */
export const startPeers: readonly { readonly peer: Peer; readonly subject: Subject }[] = [
  { name: "mastra", imports: ["@mastra/memory", "@mastra/pg"] },
  {
    name: "langchain",
    imports: ["@langchain/core/messages", "@langchain/community/stores/message/postgres", "pg"],
  },
  { name: "langgraph", imports: ["@langchain/langgraph", "@langchain/langgraph-checkpoint-postgres"] },
  { name: "llamaindex", imports: ["llamaindex"] },
].map(({ name, imports }) => {
  const peer = new Peer(`start-${name}`);
  const packages = Object.keys(
    (JSON.parse(readFileSync(join(peer.folder, "package.json"), "utf8")) as { dependencies: object })
      .dependencies,
  );
  return { peer, subject: { name: packages.join(", "), folder: peer.folder, imports } };
});

function run(args: readonly string[], cwd: string): void {
  execFileSync(process.execPath, [pnpm(), ...args], { cwd, stdio: ["ignore", "ignore", "inherit"] });
}
