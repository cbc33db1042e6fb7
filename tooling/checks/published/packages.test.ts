import { readFileSync, statSync } from "node:fs";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { describe, expect, inject, it } from "vitest";
import { execute } from "../src/runner/execute.mjs";
import { root } from "../src/runner/workspace.mjs";
import { readTree } from "../src/structure/tree.mjs";

const packed = inject("packed");
const adapterLimit = 32 * 1024;

describe.each(packed)("$name", ({ tarball }) => {
  it("has nothing that publint would change", async () => {
    const bytes = readFileSync(tarball);
    const { messages, pkg } = await publint({
      pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) },
      strict: true,
    });
    expect(messages.map((message) => formatMessage(message, pkg ?? {}))).toEqual([]);
  });

  it("has types that resolve as its modules do", async () => {
    const { types, ...found } = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
    const problems = types && "problems" in found ? found.problems : [];
    // There are ES modules alone.
    const others = ["node10", "node16-cjs"];
    const ours = problems.filter((one) => !("resolutionKind" in one && others.includes(one.resolutionKind)));
    expect(ours).toEqual([]);
  });

  it("ships what runs, and what explains it", async () => {
    const files = await filesIn(tarball);
    expect(files).toEqual(expect.arrayContaining(["package.json", "README.md", "LICENSE"]));
    expect(files.filter((file) => /^(?:src|test)\/|\.tsbuildinfo$/.test(file))).toEqual([]);
  });

  it("names no workspace, catalog or source in its manifest", async () => {
    const { output } = await execute("tar", ["-xzOf", tarball, "package/package.json"]);
    const { exports, dependencies, peerDependencies } = JSON.parse(output) as Record<string, unknown>;
    expect(exports).toBeDefined();
    expect(JSON.stringify({ exports, dependencies, peerDependencies })).not.toMatch(
      /"source"|workspace:|catalog:|\/src\//,
    );
  });
});

describe.each(packed.filter(({ folder }) => folder.startsWith("packages/store-")))("$name", ({ tarball }) => {
  it(`is a tarball of at most ${adapterLimit} bytes`, () => {
    expect(statSync(tarball).size).toBeLessThanOrEqual(adapterLimit);
  });
});

it("create-turnkeep-chat ships its template whole, and a version of each package that a chat depends on", async () => {
  const { tarball = "", folder = "" } = packed.find(({ name }) => name === "create-turnkeep-chat") ?? {};
  const shipped = (await filesIn(tarball)).filter((file) => file.startsWith("template/"));
  const known = readTree(root).files.filter((file) => file.startsWith(`${folder}/template/`));
  expect(shipped.sort()).toEqual(known.map((file) => file.slice(folder.length + 1)).sort());
  const manifestOf = async (file: string) =>
    JSON.parse((await execute("tar", ["-xzOf", tarball, `package/${file}`])).output);
  const versions = (await manifestOf("package.json")).devDependencies;
  const { dependencies, devDependencies } = await manifestOf("template/package.json");
  for (const name of Object.keys({ ...dependencies, ...devDependencies }))
    expect(versions[name], name).toMatch(/^[~^]\d+\.\d+\.\d+$/);
});

async function filesIn(tarball: string): Promise<string[]> {
  const { output } = await execute("tar", ["-tzf", tarball]);
  return output
    .trim()
    .split("\n")
    .map((file) => file.replace(/^package\//, ""));
}
