import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Rolldown } from "tsdown";
import { expect, it } from "vitest";
import { root } from "../src/runner/workspace.mjs";

const core = join(root, "packages/core/dist/index.js");
const postgres = join(root, "packages/store-postgres/dist/index.js");

/** A ceiling against growth by accident: whoever needs more room raises it in the change that takes it. */
it.each([
  { what: "all of core", code: `export * from "${core}";`, most: 49_000 },
  {
    what: "createChatMemory and a store",
    code: `export { createChatMemory } from "${core}"; export { postgresStore } from "${postgres}";`,
    most: 59_500,
  },
])("$what is $most bytes in a bundle at most, minified and compressed", async ({ code, most }) => {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-bundle-"));
  try {
    const input = join(folder, "entry.mjs");
    writeFileSync(input, code);
    const alias = { "@turnkeep/core": core, "@turnkeep/core/store-kit": join(core, "../store-kit.js") };
    const build = await Rolldown.rolldown({
      input,
      external: /^(?!\.{0,2}\/|@turnkeep\/)/,
      resolve: { alias },
      logLevel: "silent",
    });
    const { output } = await build.generate({ format: "esm", minify: true });
    await build.close();
    const [entry] = output;
    expect(entry.imports.filter((name) => name.startsWith("@turnkeep/"))).toEqual([]);
    const loaded = output.filter(
      ({ fileName }) => fileName === entry.fileName || entry.imports.includes(fileName),
    );
    const bytes = loaded.map((chunk) => ("code" in chunk ? gzipSync(chunk.code, { level: 9 }).length : 0));
    expect(bytes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(most);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
