import { textCounter } from "@turnkeep/tokens";
import type { Benchmark, Target } from "../benchmark.ts";
import { type FreshCost, inFreshProcesses } from "../fresh-process.ts";
import { timesOf } from "../measure.ts";
import { benchFolder, Peer } from "../peers.ts";
import type { Cell, Table } from "../report/table.ts";
import { buildPackages } from "../start/projects.ts";
import { type Comparison, compare, leadOf } from "../tokens/compare.ts";
import { realText, sample, samplesOf, sizes, worst } from "../tokens/samples.ts";

/** Those that count text differently. */
const encodings = ["o200k_base", "cl100k_base", "p50k_base", "r50k_base"];
/** The encoding of the models of today. */
const [usual = ""] = encodings;
const ours = "turnkeep";

/** What `counters.mjs` in the peers' folder exports: each counts a text; those that lack the encoding are absent. */
interface CountersModule {
  open(encoding: string): Promise<Readonly<Record<string, (text: string) => number>>>;
}

/**
 * How fast text is counted beside the exact peers, what the worst inputs cost, and what a process pays for its first count.
 * The words of all kinds but real text come again and again, so that their speed is that of counts that are known, by us
 * and by the peers that keep them; the worst inputs show the speed of those that are not.
 */
export const tokens: Benchmark = {
  name: "tokens",
  about: "how fast text is counted, beside peers, and what a process's first count costs",
  parts: encodings,
  async run({ quick, only, say }) {
    const chosen = encodings.filter((encoding) => only.length === 0 || only.includes(encoding));
    const firstCounts = countFirst(chosen, quick ? 1 : 15, say);
    const peer = new Peer("tokens");
    peer.install();
    const { open } = await peer.load<CountersModule>("counters.mjs");
    const size = sizes[quick ? "quick" : "full"];
    const samples = samplesOf(size);
    const comparisons = new Map<string, Comparison>();
    const delays: Cell[][] = Object.keys(worst).map((kind) => [kind]);
    const targets: Target[] = [];
    for (const encoding of chosen) {
      say(encoding);
      const count = await textCounter(encoding);
      count("");
      for (const [index, [kind, text]] of Object.entries(worst).entries()) {
        const took = Math.max(...(await timesOf(1, () => count(text), { warmUp: 0 })));
        delays[index]?.push(took);
        targets.push({ what: `${kind}, ${encoding}, ms`, measured: took, atMost: 1_000 });
      }
      const peers = Object.entries(await open(encoding)).map(([name, count]) => ({ name, count }));
      comparisons.set(encoding, compare([{ name: ours, count }, ...peers], samples, size.warmUpMs));
    }
    return {
      tables: [
        ...speedTables(comparisons, [...samples.keys()]),
        { title: "The worst inputs, ms", columns: ["input", ...chosen], rows: delays },
        {
          title: "The first count in a process, its import included",
          columns: ["encoding", "ms", "memory, MB"],
          rows: [...firstCounts].map(([encoding, { ms, megabytes }]) => [encoding, ms, megabytes]),
        },
      ],
      targets: [...firstTargets(firstCounts), ...leadTargets(comparisons), ...targets],
      versions: peer.versions(),
    };
  },
};

/** A process imports the built package, reads the encoding and counts one text. */
function countFirst(
  chosen: readonly string[],
  rounds: number,
  say: (text: string) => void,
): Map<string, FreshCost> {
  buildPackages();
  const programs = chosen.map((encoding) => ({
    name: encoding,
    folder: benchFolder,
    code: [
      'const { tokenCounter } = await import("@turnkeep/tokens");',
      `const counter = await tokenCounter(${JSON.stringify(encoding)});`,
      'const format = { role: () => "user", pieces: (text) => [{ type: "text", text }] };',
      `counter.count(${JSON.stringify(sample)}, format);`,
    ].join("\n"),
  }));
  return inFreshProcesses(programs, rounds, say);
}

function firstTargets(firstCounts: ReadonlyMap<string, FreshCost>): Target[] {
  const first = firstCounts.get(usual);
  if (first === undefined) return [];
  return [
    {
      what: "first count in a process, ms",
      measured: first.ms,
      atMost: 60,
      before: "290–360",
      decides: "start",
    },
    {
      what: "first count in a process, memory over an empty one, MB",
      measured: first.megabytes,
      atMost: 25,
      before: "77",
      decides: "start",
    },
  ];
}

function leadTargets(comparisons: ReadonlyMap<string, Comparison>): Target[] {
  return [...comparisons].map(([encoding, { speeds }]) => ({
    what: `counting real text, × the fastest exact npm peer, ${encoding}`,
    measured: leadOf(ours, speeds.get(realText) ?? new Map()),
    atLeast: 2.5,
    before: "1.4–1.7",
    decides: "turn",
  }));
}

function speedTables(comparisons: ReadonlyMap<string, Comparison>, kinds: readonly string[]): Table[] {
  const chosen = [...comparisons.keys()];
  const all = [...comparisons.values()];
  const names = [...new Set(all.flatMap(({ speeds }) => [...(speeds.get(realText)?.keys() ?? [])]))];
  const cells = (value: (comparison: Comparison) => number | undefined): Cell[] =>
    all.map((comparison) => value(comparison) ?? null);
  const differing = [...comparisons].flatMap(([encoding, { differing }]) =>
    [...differing].map(([name, texts]): Cell[] => [name, encoding, texts]),
  );
  return [
    {
      title: "Counting real text, MB/s, medians",
      columns: ["", ...chosen],
      rows: names.map((name) => [name, ...cells(({ speeds }) => speeds.get(realText)?.get(name))]),
    },
    ...(differing.length === 0
      ? []
      : [
          {
            title: "Left out, as they count otherwise",
            columns: ["", "encoding", "texts that differ"],
            rows: differing,
          },
        ]),
    {
      title: "Counting text by kind, MB/s, medians",
      columns: ["kind", ...chosen],
      rows: kinds.map((kind) => [kind, ...cells(({ speeds }) => speeds.get(kind)?.get(ours))]),
    },
    {
      title: "The same, × the fastest exact peer",
      columns: ["kind", ...chosen],
      rows: kinds.map((kind) => [
        kind,
        ...cells(({ speeds }) => leadOf(ours, speeds.get(kind) ?? new Map())),
      ]),
    },
  ];
}
