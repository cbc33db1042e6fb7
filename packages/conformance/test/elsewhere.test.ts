import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { cases, formatReport, runConformance } from "../src/index.ts";
import { fileHarness } from "./file-harness.ts";

const named = cases.filter(({ needs }) => needs?.includes("elsewhere"));

test("a store whose lock and data are the database's passes with a client in another thread", async () => {
  const report = await runConformance(await fileHarness(), { cases: named });
  expect(report.counts).toMatchObject({ passed: named.length, failed: 0, skipped: 0 });
});

test("a module in TypeScript is read, and what it throws is told", async () => {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-module-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "elsewhere.ts");
  writeFileSync(
    path,
    "export default (data: { url: string }): never => { throw new Error('no database ' + data.url); };",
  );
  const harness = await fileHarness();
  const elsewhere = () => ({ module: pathToFileURL(path), data: { url: "here" } });
  const report = await runConformance({ ...harness, elsewhere }, { cases: named });
  expect(formatReport(report)).toContain("the client elsewhere: saw Error: no database here");
});
