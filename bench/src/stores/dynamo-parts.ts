import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Rolldown } from "tsdown";
import { benchFolder } from "../peers.ts";

/** A part of the DynamoDB store, and what to write in its source in place of what, so that it does nothing. */
export interface Part {
  readonly name: string;
  readonly edits: readonly (readonly [file: string, from: string, to: string])[];
}

export const parts: readonly Part[] = [
  { name: "nothing", edits: [] },
  {
    name: "newest messages in the head",
    edits: [["records.ts", "recentBytes: number = 3 *", "recentBytes: number = 0 *"]],
  },
  {
    name: "3 KB in the head: 2 KB",
    edits: [["records.ts", "recentBytes: number = 3 *", "recentBytes: number = 2 *"]],
  },
  {
    name: "3 KB in the head: 6 KB",
    edits: [["records.ts", "recentBytes: number = 3 *", "recentBytes: number = 6 *"]],
  },
  {
    name: "several messages in a row",
    edits: [["records.ts", "last.bytes + bytes <= Math.max(rowBytes, newer / 4)", "false"]],
  },
  {
    name: "live messages in rows of their own",
    edits: [["records.ts", "const separateRuns = 10", "const separateRuns = -1"]],
  },
  {
    name: "marks beside the head",
    edits: [
      ["items.ts", '"activeAt",\n] as const', '"activeAt",\n  "superseded",\n] as const'],
      ["plans.ts", "const marks = life.markItems(count, marksOf(update, before))", "const marks = []"],
      [
        "plans.ts",
        "const planned = { ...head,",
        `const { add, drop } = marksOf(update, before);
         const superseded = decodeLive("", base.superseded ?? "");
         for (const seq of add) superseded.set(seq, inItsRow);
         for (const seq of drop) superseded.delete(seq);
         const planned = { ...head, superseded: encodeLive(superseded),`,
      ],
      ["history.ts", "await supersededOf(this.#reading, gone)", 'decodeLive("", this.#reading.superseded)'],
      [
        "rows.ts",
        "this.#token = pending;",
        "this.#token = pending; this.superseded = arguments[1].superseded ?? '';",
      ],
    ],
  },
  {
    name: "rows above 32 KB written before",
    edits: [["records.ts", "insideBytes: number = 32 *", "insideBytes: number = 380 *"]],
  },
  { name: "remembered heads", edits: [["head.ts", "const remembered = 1_000", "const remembered = 0"]] },
  { name: "a list in 8 partitions", edits: [["items.ts", "shards = 8", "shards = 1"]] },
];

/** `dynamoStore` of the workspace's sources, without that part. */
export async function dynamoWithout({ name, edits }: Part): Promise<typeof import("@turnkeep/store-dynamo")> {
  const source = join(benchFolder, "../packages/store-dynamo/src");
  const done = new Set<string>();
  const build = await Rolldown.rolldown({
    input: join(source, "index.ts"),
    external: [/^@aws-sdk\//],
    platform: "node",
    resolve: { conditionNames: ["source", "import", "node", "default"] },
    plugins: [
      {
        name: "switch-off",
        transform(code, id) {
          return edits.reduce((text, [file, from, to]) => {
            if (id !== join(source, file)) return text;
            if (text.split(from).length === 2) done.add(from);
            return text.replace(from, to);
          }, code);
        },
      },
    ],
  });
  const folder = join(benchFolder, ".cache", "parts");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name.replace(/\W+/g, "-")}.js`);
  await build.write({ file, format: "esm", codeSplitting: false });
  await build.close();
  const [missing] = edits.filter(([, from]) => !done.has(from));
  if (missing) throw new Error(`${missing[0]} is no longer as "${name}" expects it: ${missing[1]}`);
  return import(pathToFileURL(file).href);
}
