import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { main } from "../src/command/main.ts";
import { type ConformanceReport, cases } from "../src/index.ts";
import { folderWith } from "./command-folder.ts";
import { inProcess, runIn, shellIn } from "./command-run.ts";

const kit = inject("kit");

const good = `import { referenceHarness } from "../../reference.js";
export default referenceHarness();
`;

/** TypeScript that only a compiler can read, with a sibling named as TypeScript and as JavaScript. */
const typed: Readonly<Record<string, string>> = {
  "my-store.ts": `import type { ConformanceHarness } from "@turnkeep/conformance";
import { broken } from "./broken.js";
import { Fault } from "./fault.ts";

class Maker {
  constructor(private readonly fault: Fault) {}
  async make(): Promise<ConformanceHarness> {
    return broken(this.fault);
  }
}
const name = await Promise.resolve(Fault.Owner);
export default (): Promise<ConformanceHarness> => new Maker(name).make();
`,
  "fault.ts": "export enum Fault { Owner = 'owner' }\n",
  "broken.ts": `import { referenceHarness } from "../../reference.js";
export const broken = (fault: string) => referenceHarness({
  capabilities: { list: false },
  wrap: (base: any) => ({
    updateMessages: (id: string, { [fault]: _, ...update }: any, options: any) => base.updateMessages(id, update, options),
  }),
});
`,
};

describe("turnkeep-conformance", () => {
  it("runs a harness of TypeScript, and says which sentence is not kept and what was seen", async () => {
    const folder = folderWith(kit, typed);
    const ended = await runIn(kit, folder, [
      "./my-store.ts",
      "--group",
      "basic",
      "--group",
      "list",
      "--seed",
      "42",
    ]);
    expect(ended.err).toBe("failed so far: basic: the owner stays until an update names another\n");
    expect(ended.out).toContain("./my-store.ts: 51 cases, seed 42\n");
    expect(ended.out).toContain(
      "✗ basic      17 passed, 1 failed, 1 skipped\n✓ list       1 passed, 31 skipped\n",
    );
    expect(ended.out).toContain(
      'contract: The owner from now on. Absent: unchanged; none, for a memory that begins.\n  seen:     getMessages after an owner was given, owner: expected "alice", saw undefined',
    );
    expect(ended.out).toContain("(the store declares list: false)");
    expect(ended.out.endsWith("Does not conform: 18 passed, 1 failed, 32 skipped; seed 42\n")).toBe(true);
    expect(ended.status).toBe(1);
  });

  it.each([
    ["store.js", good],
    ["store.mjs", good],
    ["store.mts", good],
    [
      "store.cjs",
      'exports.__esModule = true;\nexports.default = async () => (await import("../../reference.js")).referenceHarness();\n',
    ],
    ["store.cts", 'module.exports = async () => (await import("../../reference.js")).referenceHarness();\n'],
  ])("runs %s", async (name, text) => {
    const { status, out, err } = await inProcess(folderWith(kit, { [name]: text }), [
      name,
      "--group",
      "order",
    ]);
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toMatch(/Passed a part of the kit \(\d+ of \d+ cases\): \d+ passed; seed \d+\n$/);
  });

  it("gives a CommonJS driver to every file that imports it", async () => {
    const files = {
      "node_modules/driver/index.js": "module.exports = class Driver {};\n",
      "node_modules/driver/package.json": '{ "name": "driver", "main": "index.js" }',
      "store.ts": 'import Driver from "driver";\nexport const open = () => new Driver();\n',
      "my-store.ts": `import Driver from "driver";
import { referenceHarness } from "../../reference.js";
import { open } from "./store.ts";
await Promise.resolve();
if (!(open() instanceof Driver)) throw new Error("two drivers");
export default referenceHarness();
`,
    };
    const { status, err } = await runIn(kit, folderWith(kit, files), ["my-store.ts", "--group", "order"]);
    expect({ status, err }).toEqual({ status: 0, err: "" });
  });

  it("writes the report as JSON and a badge, into folders that it makes", async () => {
    const folder = folderWith(kit, { ...typed, "good.mjs": good });
    const files = ["--json", "out/report.json", "--badge", "out/badge.svg"];
    const read = (name: string) => readFileSync(join(folder, "out", name), "utf8");

    expect(
      (await inProcess(folder, ["my-store.ts", ...files, "--name", "owner", "--group", "basic"])).status,
    ).toBe(1);
    const failed = JSON.parse(read("report.json")) as ConformanceReport & { versions: object };
    expect(failed).toMatchObject({ ok: false, capabilities: { list: false }, counts: { failed: 1 } });
    const version = expect.stringMatching(/^\d+\.\d+\.\d+/);
    expect(failed.versions).toEqual({ kit: version, core: version, node: process.versions.node });
    expect(failed.date).toBe(new Date(failed.date).toISOString());
    expect(failed).toMatchObject({ whole: false, casesOfTheKit: cases.length, lacking: expect.any(Array) });
    expect(failed.offered).toEqual(expect.arrayContaining(["fault", "given", "rawRead", "reopen"]));
    const member = failed.results.find(({ status }) => status === "failed");
    expect(member).toMatchObject({
      sentence: "The owner from now on. Absent: unchanged; none, for a memory that begins.",
      message: expect.stringContaining("saw undefined"),
    });
    expect(member).not.toHaveProperty("error");
    expect(read("badge.svg")).toContain("<title>turnkeep store: 1 failed</title>");

    expect((await inProcess(folder, ["good.mjs", ...files, "--group", "order"])).status).toBe(0);
    const part = cases.filter(({ group }) => group === "order").length;
    expect(read("badge.svg")).toContain(`turnkeep store: ${part} of ${cases.length} cases passed`);
  });

  it("repeats a failed sequence by the line that the report prints", async () => {
    const folder = folderWith(kit, {
      "bad.ts": `import { referenceHarness } from "../../reference.js";
export default referenceHarness({
  wrap: (base: any) => ({
    updateMessages: (id: string, { head: _, ...update }: any, options: any) => base.updateMessages(id, update, options),
  }),
});
`,
    });
    const name = "random sequences";
    const first = await runIn(kit, folder, [
      "bad.ts",
      "--group",
      "model",
      "--name",
      name,
      "--timeout",
      "59000",
    ]);
    expect(first.out).toContain("contract: Absent: unchanged.\n");
    const line = /to repeat it: npx (turnkeep-conformance .+)\n/.exec(first.out)?.[1] ?? "";
    expect(line).toContain("--timeout 59000");
    const again = await shellIn(kit, folder, line);
    expect(again.status).toBe(1);
    const steps = (text: string) => text.split("\n").filter((line) => line.trim().startsWith("- "));
    expect(steps(again.out)).toEqual(steps(first.out));
    expect(steps(again.out).length).toBeGreaterThan(0);
  });

  const wrong: Readonly<Record<string, string>> = {
    "none.ts": "export const harness = { create() {} };\n",
    "text.ts": 'export default "postgres";\n',
    "other.mjs": "export default { build() {} };\n",
    "misspelt.mjs": "export default { create() {}, destory() {} };\n",
    "answers.ts": "export default () => undefined;\n",
    "syntax.ts": "export default {{;\n",
    "missing.ts": 'import "./not-there.ts";\nexport default {};\n',
    "throws.mjs": 'throw new Error("no DATABASE_URL");\n',
    "makes.ts": 'export default async () => { throw new Error("no DATABASE_URL"); };\n',
    "create.ts":
      'export default { create() { throw new Error("the server is down", { cause: new Error("refused") }); } };\n',
    "destroy.mjs": `${good.replace("export default", "const harness =")}
export default { ...harness, destroy() { throw new Error("the container stays"); } };
`,
    "store.txt": "",
  };

  it.each([
    [["nowhere.ts"], /^turnkeep-conformance: nowhere\.ts does not exist: looked for .+nowhere\.ts\.\n$/],
    [["."], "is no file"],
    [["store.txt"], "its name must end in .ts"],
    [["none.ts"], "none.ts has no default export: export default a harness"],
    [
      ["text.ts"],
      "The default export of text.ts is no harness: export default a harness, an object with create(), or a function that makes one. It is a string.",
    ],
    [["other.mjs"], "It is an object with build."],
    [
      ["misspelt.mjs"],
      /^turnkeep-conformance: misspelt\.mjs: A conformance harness has [^\n]+"destory"\.\n$/,
    ],
    [["answers.ts"], "The function that is its default export answered undefined."],
    [["syntax.ts"], "syntax.ts could not be loaded."],
    [["missing.ts"], /missing\.ts could not be loaded\.[\s\S]*not-there\.ts/],
    [["throws.mjs"], "throws.mjs could not be loaded. Error: no DATABASE_URL"],
    [["makes.ts"], "The function that makes.ts exports failed. Error: no DATABASE_URL"],
    [
      ["create.ts"],
      /The harness of create\.ts failed\. Error: the server is down[\s\S]*caused by Error: refused/,
    ],
    [["destroy.mjs", "--group", "order"], "The harness of destroy.mjs failed. Error: the container stays"],
  ])("exits with 2 for %j", async (args, message) => {
    const { status, err } = await inProcess(folderWith(kit, wrong), args);
    expect(err).toMatch(message);
    expect(status).toBe(2);
  });

  it.each([
    [[], "name the file"],
    [["a.ts", "b.ts"], "a.ts and b.ts are 2 files: name one."],
    [["a.ts", "--nonsense"], "Unknown option '--nonsense'"],
    [["a.ts", "--group", "bsic"], "There is no group bsic: choose from basic, order"],
    [["a.ts", "--", "--group", "bsic"], "There is no group bsic: choose from basic, order"],
    [["a.ts", "--name", "nothing like it"], 'No case has "nothing like it" in its name.'],
    [["a.ts", "--seed", "many"], '--seed must be a whole number, not "many".'],
    [["a.ts", "--seed", ""], '--seed must be a whole number, not "".'],
    [["a.ts", "--path", "1:2"], "give --seed too"],
    [["a.ts", "--seed", "1", "--path", "nonsense"], "path must be a path as a failed case printed it"],
    [["a.ts", "--bail", "0"], '--bail must be a positive number of cases, not "0".'],
    [["a.ts", "--total", "1h"], '--total must be a positive number of milliseconds, not "1h".'],
    [["a.ts", "--timeout", "1s"], '--timeout must be a positive number of milliseconds, not "1s".'],
    [["a.ts", "--timeout", "0"], '--timeout must be a positive number of milliseconds, not "0".'],
    [["a.ts", "--json", "a.ts/report.json"], "a.ts/report.json cannot be written"],
    [["a.ts", "--json", "."], ". names a folder: name a file in it."],
    [["a.ts", "--badge", "new/"], "new/ names a folder: name a file in it."],
    [["a.ts", "--json", ""], "An empty path names a folder"],
    [["a.ts", "--json", "out", "--badge", "./out"], "--json and --badge name one file, out: name two."],
  ])("exits with 2 for the command line %j", async (args, message) => {
    const { status, out, err } = await inProcess(folderWith(kit, { "a.ts": "export default {};" }), args);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(err).toContain(message);
    expect(err).not.toContain("    at ");
  });

  it("ends after the running case when it is interrupted, and lets the harness clear up", async () => {
    const folder = folderWith(kit, {
      "slow.mjs": `import { referenceHarness } from "../../reference.js";
const harness = referenceHarness();
export default {
  ...harness,
  create(options) {
    console.log("the first case runs");
    return harness.create(options);
  },
  destroy: () => console.log("cleared up"),
};
`,
    });
    let sent = false;
    const ended = await runIn(kit, folder, ["slow.mjs"], (out, kill) => {
      if (!sent && out.includes("the first case runs")) kill("SIGINT");
      sent ||= out.includes("the first case runs");
    });
    expect(ended.status).toBe(130);
    expect(ended.out).toContain("cleared up");
    expect(ended.err).toContain("so there is no report");
  });

  it("names what fails as it ends, bounds a case that hangs, and keeps what was seen until it is interrupted", async () => {
    const folder = folderWith(kit, {
      "hanging.mjs": `import { referenceHarness } from "../../reference.js";
const harness = referenceHarness();
export default {
  ...harness,
  async create(options) {
    return { ...(await harness.create(options)), getMessages: () => new Promise(() => {}) };
  },
};
`,
    });
    const interrupted = new AbortController();
    let [out, err] = ["", ""];
    const status = await main(["hanging.mjs", "--group", "basic", "--timeout", "50"], {
      cwd: folder,
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
        interrupted.abort();
      },
      signal: interrupted.signal,
    });
    expect(status).toBe(2);
    expect(err).toMatch(/^failed so far: basic: an unknown id is an empty snapshot\n/);
    expect(err).toMatch(/it was interrupted after \d of \d+ cases, so there is no report\.\n$/);
    expect(out).toContain("FAILED basic: an unknown id is an empty snapshot\n  contract: An unknown id");
    expect(out).toContain(
      "  seen:     the case: expected an end within 50 ms, saw none (timeoutMs, or --timeout, gives a slow store more)\n",
    );
  });

  it("ends though the harness leaves a timer behind", async () => {
    const folder = folderWith(kit, { "open.mjs": `setInterval(() => {}, 1000);\n${good}` });
    expect((await runIn(kit, folder, ["open.mjs", "--group", "order"])).status).toBe(0);
  });

  it("says how it is used, and its version", async () => {
    const folder = folderWith(kit, {});
    expect(await runIn(kit, folder, ["--help"])).toMatchObject({
      status: 0,
      err: "",
      out: expect.stringContaining("Exit status: 0"),
    });
    expect((await runIn(kit, folder, ["-v"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
