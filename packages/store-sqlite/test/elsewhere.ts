import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  type ConformanceGroup,
  type ConformanceResult,
  cases,
  conformanceGroups,
} from "@turnkeep/conformance";
import { newerNode } from "@turnkeep/servers";
import { bundled, partOfTheKit } from "@turnkeep/store-tests";
import { beforeAll, describe, type TestContext, test } from "vitest";

/** The same engine: what may differ is how a driver sends and answers. */
export const groupsElsewhere: readonly ConformanceGroup[] | undefined = partOfTheKit([
  "basic",
  "atomicity",
  "versions",
  "replay",
  "lifecycle",
]);

/** Time for the kit in another process, which bounds a hang and nothing else. */
const longestMs = 600_000;

/** The kit, with what it is made of, becomes part of a program. */
const brings = /^(?:@turnkeep\/|fast-check|pure-rand)/;

/** Runs a program of this folder in a Node that has `node:sqlite`. It writes its answer, as JSON, to the file named first. */
async function answerOf<T>(program: URL, args: readonly string[]): Promise<T> {
  const file = await bundled(program, { brings });
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-answer-"));
  const answer = join(folder, "results.json");
  try {
    await promisify(execFile)(newerNode(), [file, answer, ...args], {
      env: { ...process.env, NODE_NO_WARNINGS: "1" },
    });
    return JSON.parse(readFileSync(answer, "utf8")) as T;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Registers the kit as tests whose results a program has found; `args` is what it is told before the groups. */
export function describeElsewhere(
  name: string,
  program: URL,
  args: () => Promise<readonly string[]>,
  groups: readonly ConformanceGroup[] = conformanceGroups,
): void {
  describe(name, () => {
    let results: readonly ConformanceResult[];
    beforeAll(async () => {
      results = await answerOf<readonly ConformanceResult[]>(program, [...(await args()), ...groups]);
    }, longestMs);

    for (const group of groups) {
      describe(group, () => {
        for (const member of cases.filter((one) => one.group === group)) {
          test(member.name, (context: TestContext) => {
            const result = results.find((one) => one.name === member.name && one.group === group);
            if (result === undefined) throw new Error("The kit has not run this case");
            if (result.status === "skipped") context.skip(`the store ${result.reason}`);
            if (result.status === "failed")
              throw new Error(`${result.message}\nContract: ${result.sentence}`);
          });
        }
      });
    }
  });
}
