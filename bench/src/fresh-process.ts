import { execFileSync } from "node:child_process";
import { median } from "./measure.ts";

/** What is run in a process of its own: the lines of a module, in a folder whose packages it may import. */
export interface Program {
  readonly name: string;
  readonly folder: string;
  readonly code: string;
}

/** What a program costs in a process that has done nothing before. */
export interface FreshCost {
  readonly ms: number;
  /** Resident memory of the process, in MB, beyond that of one that does nothing. */
  readonly megabytes: number;
}

/** All programs in turn, each time in a fresh process; the files are in the system's cache. Medians by name. */
export function inFreshProcesses(
  programs: readonly Program[],
  rounds: number,
  say: (text: string) => void,
): Map<string, FreshCost> {
  const nothing: Program = { name: "", folder: process.cwd(), code: "" };
  const costs = new Map([nothing, ...programs].map(({ name }) => [name, [] as FreshCost[]]));
  // The first round brings the files into the cache.
  for (let round = 0; round <= rounds; round++) {
    say(`fresh processes, round ${round} of ${rounds}`);
    for (const program of [nothing, ...programs]) {
      const cost = runOnce(program);
      if (round > 0) costs.get(program.name)?.push(cost);
    }
  }
  const medians = ([name, all]: [string, FreshCost[]]): [string, FreshCost] => [
    name,
    { ms: median(all.map(({ ms }) => ms)), megabytes: median(all.map(({ megabytes }) => megabytes)) },
  ];
  const all = new Map([...costs].map(medians));
  const empty = all.get("")?.megabytes ?? 0;
  all.delete("");
  return new Map([...all].map(([name, { ms, megabytes }]) => [name, { ms, megabytes: megabytes - empty }]));
}

function runOnce({ folder, code }: Program): FreshCost {
  const program = [
    "const began = performance.now();",
    `{\n${code}\n}`,
    "const ms = performance.now() - began;",
    "const megabytes = process.memoryUsage.rss() / 1e6;",
    // Some keep timers or sockets, which would keep the process.
    'process.stdout.write("\\n" + JSON.stringify({ ms, megabytes }), () => process.exit(0));',
  ].join("\n");
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return JSON.parse(output.trim().split("\n").at(-1) ?? "") as FreshCost;
}
