import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { repeatLine } from "../src/command/repeat-line.ts";
import { cases } from "../src/index.ts";
import { folderWith } from "./command-folder.ts";
import { inProcess, runIn } from "./command-run.ts";

const kit = inject("kit");

/** A harness whose clients do `work` in each update, and which ends by `destroy`. */
function harnessThat(work: string, destroy = ""): string {
  return `import { referenceHarness } from "../../reference.js";
export default {
  ...referenceHarness({
    wrap: (base) => ({
      updateMessages: (id, update, options) => {
        ${work}
        return base.updateMessages(id, update, options);
      },
    }),
  }),
  destroy() { ${destroy} },
};
`;
}

describe("turnkeep-conformance", () => {
  it("fails the cases in which a store throws where nobody waits, and comes to its end", async () => {
    const folder = folderWith(kit, {
      "leaves.mjs": harnessThat("void Promise.reject(new Error('left alone'));"),
    });
    const { status, out } = await runIn(kit, folder, ["leaves.mjs", "--group", "order"]);
    expect(status).toBe(1);
    expect(out).toContain("expected nothing, saw a rejection that nobody handles: Error (left alone)");
    expect(out).toMatch(/Does not conform: .*\d+ failed; seed \d+\n$/);
  });

  it("notices that the process is ended, and says which case ran", async () => {
    const folder = folderWith(kit, { "exits.mjs": harnessThat("process.exit(0);") });
    const { status, out, err } = await runIn(kit, folder, ["exits.mjs", "--group", "basic"]);
    expect(status).toBe(2);
    const [, name] = /exits\.mjs or what it uses ended the process while the case "(.+)" ran/.exec(err) ?? [];
    expect(cases.map((member) => member.name)).toContain(name);
    expect(err).toMatch(/after \d+ of \d+ cases, so there is no report/);
    expect(out).not.toContain("Conforms");
  });

  it("notices an end before the first case, too", async () => {
    const folder = folderWith(kit, { "exits.mjs": "process.exit(0);\n" });
    const { status, err } = await runIn(kit, folder, ["exits.mjs"]);
    expect(status).toBe(2);
    expect(err).toContain("exits.mjs or what it uses ended the process while it was loaded");
  });

  it("shows and writes the report though destroy throws or hangs, and exits with 2", async () => {
    const folder = folderWith(kit, {
      "throws.mjs": harnessThat("", "throw new Error('the container stays');"),
      "hangs.mjs": harnessThat("", "return new Promise(() => {});"),
    });
    for (const name of ["throws", "hangs"]) {
      const files = ["--json", `${name}.json`, "--badge", `${name}.svg`];
      const args = [`${name}.mjs`, "--group", "order", "--timeout", "1000", ...files];
      const { status, out, err } = await runIn(kit, folder, args);
      expect(status).toBe(2);
      expect(out).toMatch(/Passed a part of the kit .+ passed; seed \d+\n$/);
      expect(err).toContain(`The harness of ${name}.mjs failed.`);
      const report = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
      expect(report.counts.passed).toBeGreaterThan(0);
      expect(report.harnessFailure).not.toHaveProperty("error");
      expect(readFileSync(join(folder, `${name}.svg`), "utf8")).toContain("cases passed");
    }
  });

  it("ends after as many failures, or as much time, as it is given", async () => {
    const folder = folderWith(kit, {
      "fails.mjs": harnessThat("return Promise.reject(new Error('no'));"),
      "hangs.mjs": harnessThat("return new Promise(() => {});"),
    });
    const bailed = await inProcess(folder, ["fails.mjs", "--bail", "2"]);
    expect(bailed.err.match(/failed so far/g)).toHaveLength(2);
    expect(bailed.out).toContain("The run was stopped: 2 failed, as many as bail allows.");
    expect(bailed.status).toBe(1);
    const late = await runIn(kit, folder, ["hangs.mjs", "--group", "order", "--total", "500"]);
    expect(late.out).toContain("The run was stopped: its 500 ms were over");
    expect(late.status).toBe(1);
  });

  it("refuses a path that its seed does not have", async () => {
    const folder = folderWith(kit, { "good.mjs": harnessThat("") });
    const args = ["good.mjs", "--name", "random sequences", "--seed", "1", "--path", "0:100000"];
    const { status, err } = await inProcess(folder, args);
    expect(status).toBe(2);
    expect(err).toMatch(
      /^turnkeep-conformance: The path 0:100000 leads nowhere in the case "random sequences/,
    );
    expect(err).not.toContain("    at ");
  });

  it("writes a repeat for any shell, and for any name as well as it can be", () => {
    const again = { names: ['a "quoted" name', "plain"], seed: -5, path: "1:2" };
    expect(repeatLine("./my store.ts", "5000", again)).toBe(
      `npx turnkeep-conformance "./my store.ts" --name 'a "quoted" name' --name plain --seed=-5 --path 1:2 --timeout 5000`,
    );
    const name = "it's $HOME";
    expect(repeatLine("a.ts", undefined, { names: [name], seed: 1 })).toBe(
      `npx turnkeep-conformance a.ts --name 'it'\\''s $HOME' --seed=1`,
    );
  });

  it("follows the paths of tsconfig.json", async () => {
    const folder = folderWith(kit, {
      "tsconfig.json": '{ "extends": "./base.json" }',
      "base.json": '{ "compilerOptions": { "baseUrl": ".", "paths": { "@kit/*": ["./lib/*"] } } }',
      "lib/reference.ts": 'export { referenceHarness } from "../../../reference.js";\n',
      "my-store.ts":
        'import { referenceHarness } from "@kit/reference";\nexport default referenceHarness();\n',
    });
    const { status, err } = await runIn(kit, folder, ["my-store.ts", "--group", "order"]);
    expect({ status, err }).toEqual({ status: 0, err: "" });
  });
});
