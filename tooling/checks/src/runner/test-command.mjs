import { existsSync } from "node:fs";
import { join } from "node:path";
import { conformanceRows, conformanceTable } from "./conformance-table.mjs";
import { closingLine, none, sum } from "./counts.mjs";
import { execute } from "./execute.mjs";
import { installStep } from "./install-step.mjs";
import { runSteps } from "./steps.mjs";
import { runVitest } from "./test-step.mjs";
import { root, workspacePackages } from "./workspace.mjs";

/**
 * `npm test`: everything that must hold before a change lands. Answers the exit status; the line that it prints
 * last counts the tests.
 *
 * @param {(text: string) => void} print
 */
export async function testCommand(print) {
  let counts = none;
  /** @type {import("./conformance-table.mjs").ConformanceRow[]} */
  const conformance = [];
  /** @param {import("./counts.mjs").Counts} more */
  const onCounts = (more) => {
    counts = sum(counts, more);
  };
  /** @type {NodeJS.ProcessEnv} */
  const env = {};
  const bin = join(root, "node_modules", ".bin");
  const turbo = ["--continue", "--concurrency=100%", "--output-logs=errors-only"];
  const needs = ["install"];
  /** @type {import("./steps.mjs").Step[]} */
  const steps = [
    installStep(env),
    {
      name: "build",
      needs,
      run: () => execute(join(bin, "turbo"), ["run", "build", ...turbo], { cwd: root, env }),
    },
    { name: "types", needs, run: () => execute("pnpm", ["run", "check", ...turbo], { cwd: root, env }) },
    {
      name: "lint",
      needs,
      run: () =>
        execute(join(bin, "biome"), ["check", "--error-on-warnings", "--diagnostic-level=warn", "."], {
          cwd: root,
          env,
        }),
    },
    {
      name: "structure",
      needs,
      run: () => execute(process.execPath, ["tooling/structure.mjs"], { cwd: root, env }),
    },
    {
      name: "published packages",
      needs: [...needs, "build"],
      // First of those that share the cores: at the end it would run alone, for two minutes.
      shared: true,
      run: () =>
        runVitest(join(root, "tooling/checks"), { env, onCounts, config: "vitest.published.config.ts" }),
    },
    ...workspacePackages()
      .filter(({ manifest }) => manifest.scripts?.test?.startsWith("vitest"))
      .map(
        ({ name, folder }) =>
          /** @type {const} */ ({
            name: `tests of ${name}`,
            needs,
            shared: true,
            run: () =>
              runVitest(join(root, folder), {
                env,
                onCounts,
                onReport: (report) => {
                  if (folder.startsWith("packages/store-"))
                    conformance.push(...conformanceRows(name, report));
                },
              }),
          }),
      ),
  ];
  if (!existsSync(join(root, ".git"))) print("No git here: files are found by walking the folder.\n");
  print("Turnkeep: everything that must hold\n");
  const failed = await runSteps(steps, print);
  const rows = conformance.sort((a, b) => a.store.localeCompare(b.store));
  print(`\nThe conformance kit on real databases\n\n${conformanceTable(rows)}\n`);
  if (failed.length > 0) print(`failed: ${failed.join(", ")}\n`);
  print(`${closingLine(counts)}\n`);
  return failed.length === 0 ? 0 : 1;
}
