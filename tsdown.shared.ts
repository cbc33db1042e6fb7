import { defineConfig, type UserConfig } from "tsdown";

/** One build for every package: ESM with declarations, in the file names that the manifests name. */
export function library(platform: "neutral" | "node", ...entry: string[]): UserConfig {
  return defineConfig({
    entry,
    platform,
    format: "esm",
    fixedExtension: false,
    target: "node20.19",
    dts: true,
    // `Symbol.asyncDispose`, whatever `lib` a user's project has.
    banner: { dts: '/// <reference lib="esnext.disposable" />' },
    clean: true,
    // Docstrings stand in the declarations; here an engine would read them at each start.
    outputOptions: { comments: { legal: true, annotation: true, jsdoc: false } },
    plugins: [docsOfTheirOwnLine],
  });
}

type Plugin = Extract<UserConfig["plugins"], readonly unknown[]>[number];

/**
 * The declarations are printed with a member's docstring behind the member before it, where no editor finds it: a
 * comment on a line belongs to what stands there before it.
 */
const docsOfTheirOwnLine: Plugin = {
  name: "docs-of-their-own-line",
  renderChunk: {
    order: "post",
    handler: (code, { fileName }) =>
      fileName.endsWith(".d.ts") ? code.replace(/; (\/\*\* .* \*\/\n)( *)/g, ";\n$2$1$2") : null,
  },
};
