import type { Benchmark } from "../benchmark.ts";
import { read, reruns } from "../elsewhere/claims.ts";

/** Whether what the README says of other libraries is true of the versions that are locked here. */
export const elsewhere: Benchmark = {
  name: "elsewhere",
  about: "whether what the README says of other libraries holds",
  async run({ say }) {
    const versions: Record<string, string> = {};
    const rows: string[][] = [];
    for (const { what, package: name, source, peer, run } of reruns) {
      say(`${name}: ${what}`);
      peer.install();
      const version = peer.versions()[name] as string;
      versions[name] = version;
      const { holds, seen } = await run();
      rows.push([name, version, what, holds ? "holds" : "no longer holds", seen, source]);
    }
    for (const { package: name, release, what, runsOn, source } of read)
      rows.push([name, release, what, `cannot be run here (${runsOn})`, "as read in that release", source]);
    const columns = ["package", "version", "claim", "now", "seen", "source"];
    return { tables: [{ title: "What breaks elsewhere", columns, rows }], versions };
  },
};
