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
    plugins: [docsOfTheirOwnLine, codeInAscii],
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

/** One character beyond Latin-1 makes an engine keep the whole file with two bytes a character, and read it more slowly. */
const codeInAscii: Plugin = {
  name: "code-in-ascii",
  // Chunks are printed anew after `renderChunk`.
  generateBundle(_, bundle) {
    for (const part of Object.values(bundle)) {
      if (part.type === "chunk" && part.fileName.endsWith(".js"))
        part.code = part.code.replace(/[^\0-\x7f]/g, escaped);
    }
  },
};

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
