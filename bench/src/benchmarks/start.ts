import { join } from "node:path";
import type { Benchmark } from "../benchmark.ts";
import { inFreshProcesses } from "../fresh-process.ts";
import { benchFolder } from "../peers.ts";
import type { Cell } from "../report/table.ts";
import { bundleOf } from "../start/bundle.ts";
import { footprintOf } from "../start/footprint.ts";
import { ourProjects, publishedPackages, startPeers } from "../start/projects.ts";
import { bundleOfUse } from "../start/uses.ts";

/** What a package costs before it has done anything: to install, to import, to bundle. */
export const start: Benchmark = {
  name: "start",
  about: "installed size, cold import, resident memory and bundles",
  async run({ quick, say }) {
    say("our packages, built, packed and installed");
    const published = publishedPackages();
    const ours = ourProjects(published);
    const peers = startPeers.map(({ peer, subject }) => {
      say(subject.name);
      peer.install();
      return subject;
    });
    const subjects = [...ours, ...peers];
    const programs = subjects.map(({ name, folder, imports }) => ({
      name,
      folder,
      code: imports.map((specifier) => `await import(${JSON.stringify(specifier)});`).join("\n"),
    }));
    const imports = inFreshProcesses(programs, quick ? 1 : 15, say);
    const footprints = new Map(subjects.map(({ name, folder }) => [name, footprintOf(folder)]));
    const bundles: Cell[][] = [];
    for (const { name, entries, peers: external } of published) {
      say(`bundles of ${name}`);
      for (const [entry, file] of entries) {
        const { atOnce, later } = await bundleOf([file], { folder: join(benchFolder, ".cache"), external });
        bundles.push([entry, atOnce, later]);
      }
    }
    const peerBundles: Cell[][] = [];
    for (const { name, folder, imports } of subjects) {
      say(`a bundle of ${name}`);
      const from = join(folder, "node_modules/.bench");
      const { atOnce, later } = await bundleOf(
        imports.filter((specifier) => specifier !== "pg"),
        { folder: from, external: ["pg"] },
      );
      peerBundles.push([name, atOnce, later]);
    }
    const sizeOf = (name: string | undefined): number => footprints.get(name ?? "")?.megabytes ?? Number.NaN;
    const allOfCore = await bundleOfUse("all of @turnkeep/core");
    const withStore = await bundleOfUse("createChatMemory and a store");
    return {
      tables: [
        {
          title: "Installed and imported",
          columns: ["packages asked for", "installed, MB", "packages", "import, ms", "memory, MB"],
          rows: subjects.map(({ name }) => {
            const { megabytes, packages } = footprints.get(name) ?? { megabytes: null, packages: null };
            const cold = imports.get(name);
            return [name, megabytes, packages, cold?.ms ?? null, cold?.megabytes ?? null];
          }),
        },
        {
          title: "All of it in one bundle but pg, KB, minified and gzip",
          columns: ["packages asked for", "at once", "later"],
          rows: peerBundles,
        },
        {
          title: "Our entries, KB, minified and gzip",
          columns: ["entry", "at once", "later"],
          rows: bundles,
        },
      ],
      targets: [
        {
          what: "import of @turnkeep/core, ms",
          measured: imports.get(ours[0]?.name ?? "")?.ms ?? Number.NaN,
          atMost: 6,
          before: "8.9–10.3",
          decides: "start",
        },
        {
          what: "all of @turnkeep/core in a bundle, KB",
          measured: allOfCore.atOnce,
          atMost: 42,
          before: "41.5",
          decides: "size",
        },
        {
          what: "createChatMemory and a store in a bundle, KB",
          measured: withStore.atOnce,
          atMost: 46,
          before: "45",
          decides: "size",
        },
        {
          what: "core, store-postgres and pg installed, as a share of Mastra",
          measured: sizeOf(ours[1]?.name) / sizeOf(peers[0]?.name),
          atMost: 0.05,
        },
      ],
      versions: Object.assign({}, ...startPeers.map(({ peer }) => peer.versions())),
    };
  },
};
