import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { read, reruns } from "../src/elsewhere/claims.ts";
import { benchFolder, type Peer } from "../src/peers.ts";

const readme = readFileSync(join(benchFolder, "../README.md"), "utf8");
const start = readme.indexOf("| What breaks elsewhere |");
const table = readme.slice(start, readme.indexOf("\n\n", start));
const rows = table.split("\n").slice(2);

/** Without an installation. */
function lockedVersion({ folder }: Peer, name: string): string | undefined {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  return dependencies[name];
}

describe("the README's table of what breaks elsewhere", () => {
  it.each(reruns)("names $package as it is locked, and $source", ({ package: name, source, peer }) => {
    const version = lockedVersion(peer, name);
    expect(version).toBeDefined();
    expect(rows.filter((row) => row.includes(`\`${name}\` ${version}`) && row.includes(source))).not.toEqual(
      [],
    );
  });

  it.each(read)("names $package in $release, and $source", ({ package: name, release, source }) => {
    const [library] = name.split(",");
    expect(rows.filter((row) => row.includes(`${library} ${release}`) && row.includes(source))).not.toEqual(
      [],
    );
  });

  it("has no link that no claim is about", () => {
    const claimed = new Set([...reruns, ...read].map(({ source }) => source));
    for (const [, link] of table.matchAll(/\]\((https:[^)]+)\)/g)) expect(claimed).toContain(link);
  });
});
