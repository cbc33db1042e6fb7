import { stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import { checkHarness } from "../checks.ts";
import type { ConformanceHarness } from "../harness.ts";
import { CommandError, traced } from "./command-error.ts";

const typescript = [".ts", ".mts", ".cts", ".tsx"];
const javascript = [".js", ".mjs", ".cjs"];

/**
 * The harness that a file exports as its default, made if the export is a function. Rejects with a `CommandError` for
 * a file that is not there, cannot be loaded or exports something else, and for a function that throws.
 */
export async function loadHarness(file: string, cwd: string): Promise<ConformanceHarness> {
  const path = resolve(cwd, file);
  await checkFile(file, path);
  const exported = defaultOf(await load(file, path));
  if (exported === undefined) {
    throw new CommandError(`${file} has no default export: ${wanted}.`);
  }
  const harness = typeof exported === "function" ? await make(file, exported) : exported;
  if (!isHarness(harness)) {
    const what =
      typeof exported === "function" ? "The function that is its default export answered" : "It is";
    throw new CommandError(
      `The default export of ${file} is no harness: ${wanted}. ${what} ${kind(harness)}.`,
    );
  }
  try {
    checkHarness(harness);
  } catch (error) {
    throw new CommandError(`${file}: ${(error as Error).message}`);
  }
  return harness;
}

const wanted = "export default a harness, an object with create(), or a function that makes one";

async function checkFile(file: string, path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new CommandError(`${file} does not exist: looked for ${path}.`);
  if (!found.isFile()) throw new CommandError(`${file} is no file: name the file that exports the harness.`);
  const known = [...typescript, ...javascript];
  if (!known.includes(extname(path))) {
    throw new CommandError(
      `${file} is neither TypeScript nor JavaScript: its name must end in ${known.join(", ")}.`,
    );
  }
}

async function load(file: string, path: string): Promise<unknown> {
  try {
    // TypeScript goes through jiti on every version of Node, so that a file means the same on all of them.
    if (!typescript.includes(extname(path))) return await import(pathToFileURL(path).href);
    // Without jiti's interop, a CommonJS driver that two of the files import has no default export in one of them.
    const jiti = createJiti(pathToFileURL(path).href, {
      fsCache: false,
      interopDefault: true,
      tsconfigPaths: true,
    });
    const module: unknown = await jiti.import(path);
    // What a CommonJS file assigns to module.exports comes as it is, where Node's import() makes it the default.
    if (!isEsModule(module)) return { default: module };
    // The interop answers the whole module for a default export that is not there.
    return Object.hasOwn(module, "default") ? module : {};
  } catch (error) {
    throw new CommandError(`${file} could not be loaded. ${traced(error)}`);
  }
}

function isEsModule(module: unknown): module is object {
  return Object.hasOwn(Object(module), "__esModule");
}

/** A default export; of a CommonJS file that was compiled from an ES module, the one inside. */
function defaultOf(module: unknown): unknown {
  const outer = (module as { default?: unknown }).default;
  if (typeof outer !== "object" || outer === null || isHarness(outer)) return outer;
  return "default" in outer ? outer.default : outer;
}

async function make(file: string, build: object): Promise<unknown> {
  try {
    return await (build as () => unknown)();
  } catch (error) {
    throw new CommandError(`The function that ${file} exports failed. ${traced(error)}`);
  }
}

function isHarness(value: unknown): value is ConformanceHarness {
  return typeof (value as { create?: unknown } | null | undefined)?.create === "function";
}

function kind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  const names = Object.keys(value);
  return names.length === 0 ? "an object without members" : `an object with ${names.join(", ")}`;
}
