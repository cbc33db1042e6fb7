import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { conformanceGroups, conformanceRows, conformanceTable } from "../src/runner/conformance-table.mjs";
import { type Counts, closingLine, countsOf, none, sum } from "../src/runner/counts.mjs";
import { runSteps } from "../src/runner/steps.mjs";
import { runVitest } from "../src/runner/test-step.mjs";
import { pnpmPin, root } from "../src/runner/workspace.mjs";

const ok = () => Promise.resolve({ ok: true, output: "never shown" });
const fails = () => Promise.resolve({ ok: false, output: "the reason" });

/** Runs the steps; answers what was printed, without the seconds, and what failed. */
async function outcome(steps: Parameters<typeof runSteps>[0]) {
  let text = "";
  const failed = await runSteps(steps, (more) => {
    text += more;
  });
  return { text: text.replaceAll(/\d+\.\d s/g, "S s"), failed };
}

it("a command ends by what ends the program that runs it", async () => {
  // The command holds a connection as long as it lives.
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const execute = JSON.stringify(new URL("../src/runner/execute.mjs", import.meta.url).href);
  const command = JSON.stringify(`require("node:net").connect(${port}, "127.0.0.1")`);
  const program = `import { execute } from ${execute}; await execute(process.execPath, ["-e", ${command}]);`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", program]);
  const [connection] = (await once(server, "connection")) as [Socket];
  const ended = Promise.race([once(connection, "close"), once(connection, "error")]);
  connection.resume();
  parent.kill("SIGTERM");
  await ended;
  await expect.poll(() => parent.signalCode).toBe("SIGTERM");
});

describe("steps", () => {
  it("prints one line each, and no output of a step that succeeds", async () => {
    const note = () => Promise.resolve({ ok: true, output: "never shown", note: "7 passed" });
    const steps = [
      { name: "build", run: ok },
      { name: "tests", needs: ["build"], run: note },
    ];
    expect(await outcome(steps)).toEqual({
      text: "  build … ok (S s)\n  tests … ok (7 passed, S s)\n",
      failed: [],
    });
  });

  it("says each minute that a long step still runs", async () => {
    vi.useFakeTimers();
    try {
      let text = "";
      const run = () =>
        new Promise<{ ok: true; output: "" }>((resolve) => {
          setTimeout(() => resolve({ ok: true, output: "" }), 150_000);
        });
      const finished = runSteps([{ name: "tests", run }], (more) => {
        text += more;
      });
      await vi.advanceTimersByTimeAsync(150_000);
      await finished;
      expect(text).toBe("  tests … 1 min … 2 min … ok (150.0 s)\n");
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("shows the output of a step that fails, and goes on", async () => {
    const { text, failed } = await outcome([
      { name: "lint", run: fails },
      { name: "tests", run: ok },
    ]);
    expect(text).toBe("  lint … FAILED (S s)\n\nthe reason\n\n  tests … ok (S s)\n");
    expect(failed).toEqual(["lint"]);
  });

  it("counts a step that lacks what it needs as failed", async () => {
    const { text, failed } = await outcome([
      { name: "install", run: fails },
      { name: "build", needs: ["install"], run: ok },
      { name: "pack", needs: ["build"], run: ok },
    ]);
    expect(text).toContain("  build … not run, for want of install\n  pack … not run, for want of build\n");
    expect(failed).toEqual(["install", "build", "pack"]);
  });

  it("runs four steps at once that share, prints each in its place, and runs the others alone", async () => {
    const order: string[] = [];
    const ends = new Map<string, () => void>();
    const step = (name: string, shared?: true) => ({
      name,
      shared,
      run: async () => {
        order.push(`${name} begins`);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        order.push(`${name} ends`);
        return { ok: name !== "b", output: "the reason" };
      },
    });
    const ran = outcome([
      step("build"),
      step("a", true),
      step("b", true),
      step("c", true),
      step("d", true),
      step("e", true),
      step("pack"),
    ]);
    for (const name of ["build", "b", "e", "a", "c", "d", "pack"]) {
      await expect.poll(() => ends.has(name)).toBe(true);
      ends.get(name)?.();
      await expect.poll(() => order).toContain(`${name} ends`);
    }
    expect(order).toEqual(
      [
        "build begins",
        "build ends",
        "a begins",
        "b begins",
        "c begins",
        "d begins",
        "b ends",
        "e begins",
        "e ends",
      ].concat(["a ends", "c ends", "d ends", "pack begins", "pack ends"]),
    );
    const { text, failed } = await ran;
    expect(text).toBe(
      "  build … ok (S s)\n  a … ok (S s)\n  b … FAILED (S s)\n\nthe reason\n\n  c … ok (S s)\n  d … ok (S s)\n  e … ok (S s)\n  pack … ok (S s)\n",
    );
    expect(failed).toEqual(["b"]);
  });

  it("begins no step that shares and lacks what it needs", async () => {
    const { text, failed } = await outcome([
      { name: "build", run: fails },
      { name: "published", needs: ["build"], shared: true, run: ok },
      { name: "servers", shared: true, run: ok },
    ]);
    expect(text).toContain("  published … not run, for want of build\n  servers … ok (S s)\n");
    expect(failed).toEqual(["build", "published"]);
  });

  it("takes a step that throws for failed", async () => {
    const { text, failed } = await outcome([{ name: "types", run: () => Promise.reject(new Error("lost")) }]);
    expect(text).toContain("Error: lost");
    expect(failed).toEqual(["types"]);
  });
});

describe("counts", () => {
  const report = { numPassedTests: 4, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1 };
  const failed = { status: "failed", assertionResults: [{ status: "passed" }, { status: "failed" }] };

  it("adds the reports up", () => {
    const counts = countsOf({ ...report, testResults: [failed] });
    expect(counts).toEqual({ passed: 4, failed: 1, skipped: 3 });
    expect(sum(sum(none, counts), counts)).toEqual({ passed: 8, failed: 2, skipped: 6 });
  });

  it("counts a file that did not load as a failed test", () => {
    const unloaded = { status: "failed", assertionResults: [] };
    expect(countsOf({ ...report, testResults: [failed, unloaded] }).failed).toBe(2);
  });

  it("closes with a line that says no more than it must", () => {
    expect(closingLine({ passed: 812, failed: 0, skipped: 0 })).toBe("tests: 812 passed, 0 failed");
    expect(closingLine({ passed: 812, failed: 2, skipped: 3 })).toBe(
      "tests: 812 passed, 2 failed, 3 skipped",
    );
  });
});

describe("Vitest under npm test", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "turnkeep-runner-"));
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(
      resolve(import.meta.dirname, "../node_modules/vitest"),
      join(folder, "node_modules", "vitest"),
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function vitestOf(
    test: string,
    config?: string,
    workers?: number,
  ): Promise<{ ok: boolean; output: string; counts: Counts }> {
    writeFileSync(join(folder, "a.test.mjs"), `import { expect, it } from "vitest";\n${test}\n`);
    let counts = none;
    const { ok, output } = await runVitest(folder, {
      env: { PATH: process.env.PATH, NO_COLOR: "1" },
      ...(config === undefined ? {} : { config }),
      workers,
      onCounts: (more) => {
        counts = sum(counts, more);
      },
    });
    return { ok, output, counts };
  }

  it("passes with tests that pass, and counts what is skipped", async () => {
    const { ok, counts } = await vitestOf('it("a", () => expect(1).toBe(1));\nit.skip("b", () => {});');
    expect({ ok, counts }).toEqual({ ok: true, counts: { passed: 1, failed: 0, skipped: 1 } });
  });

  it("has as many workers as it is told", async () => {
    const told = "expect(globalThis.__vitest_worker__.config.maxWorkers)";
    writeFileSync(join(folder, "workers.config.mjs"), "export default { test: { maxWorkers: 3 } };");
    for (const workers of [undefined, 1]) {
      const test = `it("a", () => ${told}.toBe(${workers ?? 3}));`;
      expect(await vitestOf(test, "workers.config.mjs", workers)).toMatchObject({ ok: true });
    }
  });

  it("fails with a test that fails", async () => {
    const { ok, counts } = await vitestOf('it("a", () => expect(1).toBe(2));');
    expect({ ok, counts }).toEqual({ ok: false, counts: { passed: 0, failed: 1, skipped: 0 } });
  });

  it("fails with an error that no test caught", async () => {
    const { ok, output, counts } = await vitestOf(
      'it("a", async () => { setTimeout(() => { throw new Error("late"); }); await new Promise((r) => setTimeout(r, 50)); });',
    );
    expect({ ok, counts }).toEqual({ ok: false, counts: { passed: 1, failed: 1, skipped: 0 } });
    expect(output).toContain("Error: late");
  });

  it("counts one failure of a file that fails before all of its tests", async () => {
    const { ok, counts } = await vitestOf(
      'import { beforeAll } from "vitest"; beforeAll(() => { throw new Error("no"); });\nit("a", () => {});\nit("b", () => {});',
    );
    expect({ ok, counts }).toEqual({ ok: false, counts: { passed: 0, failed: 1, skipped: 2 } });
  });

  it("fails with a file all of whose tests are skipped", async () => {
    const { ok, counts } = await vitestOf('it.skip("a", () => {});\nit.skip("b", () => {});');
    expect({ ok, counts }).toEqual({ ok: false, counts: { passed: 0, failed: 1, skipped: 2 } });
  });

  it("fails, and counts it, when a server for the tests does not start", async () => {
    writeFileSync(join(folder, "setup.mjs"), 'export default () => { throw new Error("no server"); };\n');
    writeFileSync(
      join(folder, "setup.config.mjs"),
      'export default { test: { globalSetup: ["./setup.mjs"] } };\n',
    );
    const { ok, output, counts } = await vitestOf('it("a", () => {});', "setup.config.mjs");
    expect({ ok, counts }).toEqual({ ok: false, counts: { passed: 0, failed: 1, skipped: 0 } });
    expect(output).toContain("Error: no server");
  });

  it("fails with a test marked only", async () => {
    const { ok, output } = await vitestOf('it.only("a", () => {});\nit("b", () => {});');
    expect(ok).toBe(false);
    expect(output).toContain("Unexpected .only modifier");
  });

  it("fails with a file that does not load", async () => {
    const { ok, counts } = await vitestOf('throw new Error("broken");');
    expect({ ok, counts }).toEqual({ ok: false, counts: { passed: 0, failed: 1, skipped: 0 } });
  });

  it("fails when Vitest ends before it reports, and says how it ended", async () => {
    writeFileSync(join(folder, "ends.config.mjs"), "process.exit(7);\n");
    const { ok, output, counts } = await vitestOf('it("a", () => {});', "ends.config.mjs");
    expect({ ok, counts }).toEqual({ ok: false, counts: { passed: 0, failed: 1, skipped: 0 } });
    expect(output).toContain("Vitest ended without a report (exit status 7).");
  });

  it("fails without a test", async () => {
    const { ok, output } = await vitestOf("");
    expect(ok).toBe(false);
    expect(output).toContain("No test suite found");
  });
});

it("reads the pin of pnpm", () => {
  expect(pnpmPin()).toMatch(/^\d+\.\d+\.\d+$/);
});

describe("the conformance kit's runs", () => {
  const test = (status: string, ...ancestorTitles: string[]) => ({ status, ancestorTitles });
  const report = {
    testResults: [
      {
        assertionResults: [
          test("passed", "of three nodes", "a cluster", "basic"),
          test("passed", "of three nodes", "a cluster", "ttl"),
          test("skipped", "of three nodes", "a cluster", "ttl"),
        ],
      },
      {
        assertionResults: [
          test("failed", "one server", "basic"),
          test("pending", "one server", "ids"),
          test("passed", "a test beside the kit"),
        ],
      },
      { assertionResults: [test("passed", "one server", "races")] },
    ],
  };

  it("are counted by server", () => {
    expect(conformanceRows("@turnkeep/store-x", report)).toEqual([
      { store: "@turnkeep/store-x", server: "a cluster", passed: 2, skipped: 1, failed: 0 },
      { store: "@turnkeep/store-x", server: "one server", passed: 0, skipped: 1, failed: 1 },
    ]);
  });

  it("are told by the kit's own groups", () => {
    const source = readFileSync(join(root, "packages/conformance/src/case.ts"), "utf8");
    const list = /conformanceGroups = \[([^\]]*)\]/.exec(source)?.[1] ?? "";
    expect(conformanceGroups).toEqual(list.match(/\w+/g));
  });

  it("are shown as a table", () => {
    expect(conformanceTable(conformanceRows("@turnkeep/store-x", report))).toBe(
      [
        "  store              server      passed  skipped by declaration  failed",
        "  @turnkeep/store-x  a cluster        2                       1       0",
        "  @turnkeep/store-x  one server       0                       1       1",
        "",
      ].join("\n"),
    );
  });
});
