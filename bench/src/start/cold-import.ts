import { execFileSync } from "node:child_process";
import { median } from "../measure.ts";
import type { Subject } from "./projects.ts";

/** What an import costs in a process of its own. */
export interface ColdImport {
  readonly ms: number;
  /** Resident memory of the process, in MB, beyond that of one that imports nothing. */
  readonly megabytes: number;
}

/** All subjects in turn, each time in a fresh process; the files are in the system's cache. Medians. */
export function coldImports(
  subjects: readonly Subject[],
  rounds: number,
  say: (text: string) => void,
): Map<string, ColdImport> {
  const nothing: Subject = { name: "", folder: process.cwd(), imports: [] };
  const found = new Map([nothing, ...subjects].map(({ name }) => [name, [] as ColdImport[]]));
  // The first round brings the files into the cache.
  for (let round = 0; round <= rounds; round++) {
    say(`imports, round ${round} of ${rounds}`);
    for (const subject of [nothing, ...subjects]) {
      const took = importOnce(subject);
      if (round > 0) found.get(subject.name)?.push(took);
    }
  }
  const medians = ([name, imports]: [string, ColdImport[]]): [string, ColdImport] => [
    name,
    { ms: median(imports.map(({ ms }) => ms)), megabytes: median(imports.map(({ megabytes }) => megabytes)) },
  ];
  const all = new Map([...found].map(medians));
  const empty = all.get("")?.megabytes ?? 0;
  all.delete("");
  return new Map([...all].map(([name, { ms, megabytes }]) => [name, { ms, megabytes: megabytes - empty }]));
}

function importOnce({ folder, imports }: Subject): ColdImport {
  const program = [
    "const began = performance.now();",
    ...imports.map((specifier) => `await import(${JSON.stringify(specifier)});`),
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
  return JSON.parse(output.trim().split("\n").at(-1) ?? "") as ColdImport;
}
