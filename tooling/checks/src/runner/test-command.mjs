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
  const packages = workspacePackages().filter(({ manifest }) => manifest.scripts?.test?.startsWith("vitest"));
  /** @param {{ readonly folder: string }} one */
  const isStore = ({ folder }) => folder.startsWith("packages/store-");
  /** @type {import("./steps.mjs").Step[]} */
  const steps = [
    installStep(env),
    {
      name: "build",
      needs,
      run: () => execute(join(bin, "turbo"), ["run", "build", ...turbo], { cwd: root, env }),
    },
    {
      name: "types",
      needs,
      shared: true,
      run: () => execute("pnpm", ["run", "check", ...turbo], { cwd: root, env }),
    },
    {
      name: "lint",
      needs,
      shared: true,
      run: () =>
        execute(join(bin, "biome"), ["check", "--error-on-warnings", "--diagnostic-level=warn", "."], {
          cwd: root,
          env,
        }),
    },
    {
      name: "structure",
      needs,
      shared: true,
      run: () => execute(process.execPath, ["tooling/structure.mjs"], { cwd: root, env }),
    },
    {
      name: "published packages",
      needs: [...needs, "build"],
      // Before the tests of single packages: at the end it would run alone, for two minutes.
      shared: true,
      run: () =>
        runVitest(join(root, "tooling/checks"), { env, onCounts, config: "vitest.published.config.ts" }),
    },
    // The stores first: theirs take longest, and wait most.
    ...[...packages.filter(isStore), ...packages.filter((one) => !isStore(one))].map(
      (one) =>
        /** @type {const} */ ({
          name: `tests of ${one.name}`,
          needs,
          shared: true,
          run: () =>
            runVitest(join(root, one.folder), {
              env,
              // Beside others a second one costs more, for loading the same modules, than it brings; stores' mostly wait.
              workers: isStore(one) ? undefined : 1,
              onCounts,
              onReport: (report) => {
                if (isStore(one)) conformance.push(...conformanceRows(one.name, report));
              },
            }),
        }),
    ),
    {
      name: "tests of the examples",
      needs,
      shared: true,
      run: () => runVitest(root, { env, onCounts, config: "examples/vitest.config.ts" }),
    },
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
