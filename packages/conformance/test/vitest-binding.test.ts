import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { cases } from "../src/index.ts";

interface Run {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Runs a fixture in a vitest of its own. */
function runFixture(name: string, ...more: string[]): Promise<{ run: Run; code: number }> {
  const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
  const config = fileURLToPath(new URL("fixtures/vitest.config.ts", import.meta.url));
  const args = [vitest, "run", "--config", config, "--reporter=json", ...more, `/${name}.fixture.ts`];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      try {
        resolve({ run: JSON.parse(stdout) as Run, code: Number(error?.code ?? 0) });
      } catch {
        reject(new Error(`vitest answered no report: ${stderr}`));
      }
    });
  });
}

test("the binding registers a test for each case: passed, failed with the sentence, or skipped", async () => {
  const { run, code } = await runFixture("broken");
  const results = run.testResults.flatMap(({ assertionResults }) => assertionResults);
  const wanted = cases.filter(({ group }) => group === "basic" || group === "list");
  expect(results.map(({ title }) => title)).toEqual(wanted.map(({ name }) => name));
  expect(results.map(({ ancestorTitles }) => ancestorTitles)).toEqual(
    wanted.map(({ group }) => ["a store that forgets the owner", group]),
  );

  const failed = results.filter(({ status }) => status === "failed");
  expect(failed.map(({ title }) => title)).toEqual(["the owner stays until an update names another"]);
  const text = failed[0]?.failureMessages.join("\n");
  expect(text).toContain('owner: expected "alice", saw undefined');
  expect(text).toContain(
    "Contract: The owner from now on. Absent: unchanged; none, for a memory that begins.",
  );
  expect(text).toContain("Seed: 42");
  expect(code).toBe(1);

  const skipped = results.filter(({ status }) => status !== "failed" && status !== "passed");
  expect(skipped.map(({ title }) => title)).toEqual(
    wanted
      .filter(({ requires, needs }) => requires?.list || needs?.includes("elsewhere"))
      .map(({ name }) => name),
  );
});

test("vitest waits for two clients, for the end, and no shorter for a limit above what a timer can wait", async () => {
  const { run, code } = await runFixture("slow", "--hookTimeout=50");
  const results = run.testResults.flatMap(({ assertionResults }) => assertionResults);
  expect(results.map(({ status, failureMessages }) => [status, ...failureMessages])).toEqual([
    ["passed"],
    ["passed"],
  ]);
  expect(code).toBe(0);
});
