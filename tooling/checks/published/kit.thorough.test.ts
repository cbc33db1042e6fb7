import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { UserProject } from "../src/published/project.mjs";
import { packed } from "./in-project.ts";

const program = `import { describeConformance } from "@turnkeep/conformance/vitest";
import { inMemoryStore } from "@turnkeep/core";
import { afterAll, beforeEach, expect } from "vitest";

const begun = [];
let atOnce = 0;
beforeEach(({ task }) => {
  begun.push(task);
  atOnce = Math.max(atOnce, begun.filter(({ result }) => result?.state === "run").length);
});
afterAll(() => expect(atOnce).toBe(1));

const options = { groups: ["basic", "lifecycle"] };
describeConformance("a store", { create: inMemoryStore }, options);
describeConformance("a store that deletes nothing", {
  create: (given) => ({ ...inMemoryStore(given), deleteMessages: async () => {} }),
}, options);
`;

interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

// The ends of what the kit's peer range admits today; its own tests run on the version between them.
it.each(["3.0.0", "5.1.1"])("the kit's cases are tests of vitest %s, one at a time", async (version) => {
  const project = UserProject.create();
  try {
    const tarballs = ["@turnkeep/core", "@turnkeep/conformance"].map((name) => packed.get(name) ?? name);
    await project.install([...tarballs, `vitest@${version}`]);
    writeFileSync(join(project.folder, "store.test.ts"), program);
    const report = ["--reporter=json", "--outputFile=report.json"];
    // It fails, as one of the two stores does.
    await project
      .command("npx", ["--no", "vitest", "run", "--sequence.concurrent", ...report])
      .catch(() => undefined);
    const [file] = (JSON.parse(readFileSync(join(project.folder, "report.json"), "utf8")) as Report)
      .testResults;
    const casesOf = (store: string) =>
      file?.assertionResults.filter(({ ancestorTitles }) => ancestorTitles.includes(store)) ?? [];
    expect(file?.message).toBe("");
    const sound = casesOf("a store").map(({ status }) => status);
    expect(new Set(sound)).toEqual(new Set(["passed", "skipped"]));
    const failed = casesOf("a store that deletes nothing").filter(({ status }) => status === "failed");
    expect(failed.length).toBeGreaterThan(0);
    for (const { failureMessages } of failed) expect(failureMessages.join("\n")).toContain("Contract: ");
  } finally {
    project.remove();
  }
});
