import { join } from "node:path";
import ts from "typescript6";

/**
 * @typedef {import("./code-blocks.mjs").CodeBlock} CodeBlock
 * @typedef {import("../runner/workspace.mjs").WorkspacePackage} WorkspacePackage
 */

/**
 * What the type checker says of each block, as a program of its own: `file:line` and the complaint. A block finds the
 * workspace's packages by their sources, so that nothing need be built, and every other library where the package that
 * it stands in finds it; a block outside of any package, where `fallback` finds it.
 *
 * @param {readonly CodeBlock[]} blocks
 * @param {{ top: string, packages: readonly WorkspacePackage[], fallback: string }} workspace
 * @returns {Map<CodeBlock, string[]>}
 */
export function typeErrorsOf(blocks, { top, packages, fallback }) {
  const options = optionsOf(top, packages);
  const programs = new Map(
    blocks.map((block, index) => {
      const folder = packages.find((package_) => block.file.startsWith(`${package_.folder}/`))?.folder;
      return [join(top, folder ?? fallback, `code-block-${index}.ts`), block];
    }),
  );
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => programs.has(file) || fileExists(file);
  host.readFile = (file) => programs.get(file)?.code ?? readFile(file);
  host.getSourceFile = (file, language, ...more) => {
    const code = programs.get(file)?.code;
    if (code === undefined) return getSourceFile(file, language, ...more);
    return ts.createSourceFile(file, code, language);
  };
  const program = ts.createProgram([...programs.keys()], options, host);
  const wrong = program.getOptionsDiagnostics();
  if (wrong.length > 0) throw new Error(wrong.map(textOf).join("\n"));
  return new Map(
    [...programs].map(([file, block]) => {
      const source = program.getSourceFile(file);
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      return [block, found.map((diagnostic) => `${placeOf(diagnostic, block)} ${textOf(diagnostic)}`)];
    }),
  );
}

/**
 * The workspace's own strictness, but for what only a library's sources must hold to.
 *
 * @param {string} top
 * @param {readonly WorkspacePackage[]} packages
 * @returns {ts.CompilerOptions}
 */
function optionsOf(top, packages) {
  const { config } = ts.readConfigFile(join(top, "tsconfig.base.json"), ts.sys.readFile);
  const base = ts.convertCompilerOptionsFromJson(config.compilerOptions, top);
  if (base.errors.length > 0) throw new Error(base.errors.map(textOf).join("\n"));
  const paths = packages.flatMap(({ name, folder, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([entry, target]) =>
      target?.source === undefined ? [] : [[name + entry.slice(1), [join(top, folder, target.source)]]],
    ),
  );
  return {
    ...base.options,
    paths: Object.fromEntries(paths),
    typeRoots: [join(top, "node_modules", "@types")],
    declaration: false,
    isolatedDeclarations: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
  };
}

/**
 * @param {ts.Diagnostic} diagnostic
 * @param {CodeBlock} block
 */
function placeOf({ file, start }, block) {
  const line = file === undefined || start === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line;
  return `${block.file}:${block.line + line}`;
}

/** @param {ts.Diagnostic} diagnostic */
function textOf({ code, messageText }) {
  return `TS${code}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
}
