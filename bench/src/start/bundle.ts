import { mkdirSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Rolldown } from "tsdown";

/** A bundle, minified and compressed with gzip, in KB of 1,000 bytes. */
export interface Bundle {
  /** What is loaded when it is imported. */
  readonly atOnce: number;
  /** What is loaded when it is asked for. */
  readonly later: number;
}

/** Bundles what a project imports, all of it: nothing is left out for not being used. */
export async function bundleOf(
  imports: readonly string[],
  { folder, external }: { readonly folder: string; readonly external: readonly string[] },
): Promise<Bundle> {
  mkdirSync(folder, { recursive: true });
  const input = join(folder, ".bundled.mjs");
  writeFileSync(input, imports.map((specifier) => `export * from ${JSON.stringify(specifier)};\n`).join(""));
  const isExternal = (id: string): boolean =>
    isBuiltin(id) || external.some((name) => id === name || id.startsWith(`${name}/`));
  const build = await Rolldown.rolldown({
    input,
    external: isExternal,
    platform: "node",
    logLevel: "silent",
  });
  const { output } = await build.generate({ format: "esm", minify: true });
  await build.close();
  const chunks = output.flatMap((part) => (part.type === "chunk" ? [part] : []));
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const first = new Set(chunks.filter(({ isEntry }) => isEntry));
  for (const chunk of first) {
    for (const file of chunk.imports) {
      const imported = byFile.get(file);
      if (imported !== undefined) first.add(imported);
    }
  }
  const sizeOf = (parts: Iterable<{ readonly code: string }>): number =>
    [...parts].reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0) / 1_000;
  return {
    atOnce: sizeOf(first),
    later: sizeOf(chunks.filter((chunk) => !first.has(chunk))),
  };
}
