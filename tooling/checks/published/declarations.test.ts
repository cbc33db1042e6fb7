import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript6";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { execute } from "../src/runner/execute.mjs";

const top = mkdtempSync(join(tmpdir(), "turnkeep-declarations-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

describe.each(inject("packed"))("$name", ({ folder, tarball }) => {
  let declarations: Declarations;
  beforeAll(async () => {
    declarations = await readDeclarations(folder, tarball);
  });

  it("exports every interface and class that a user's own declarations may have to name", () => {
    const { declared, exported } = declarations;
    const inherited = new Set(declared.flatMap(({ extended }) => extended));
    const unnamed = declared.filter(({ name, symbol }) => !exported.has(symbol) && !inherited.has(name));
    expect(unnamed.map(({ name }) => name)).toEqual([]);
  });

  it("explains whatever it exports", () => {
    const { exported, checker } = declarations;
    const bare = [...exported].filter((symbol) => symbol.getDocumentationComment(checker).length === 0);
    const names = bare.map(({ name }) => name).filter((name) => !isProviders(folder, name));
    expect(names).toEqual([]);
  });

  it("explains every option", () => {
    const { exported, checker } = declarations;
    const bare = [...exported].flatMap((symbol) => optionsOf(symbol, checker));
    const names = bare.filter(({ told }) => !told).map(({ name }) => name);
    expect([...new Set(names)]).toEqual([]);
  });

  it("has no docstring behind something else on its line, where no editor finds it", () => {
    const { texts } = declarations;
    expect(texts.flatMap((text) => text.match(/^ *\S.*\/\*\* .*$/gm) ?? [])).toEqual([]);
  });
});

/** The members of the last argument of a function, where that is its options. */
function optionsOf(symbol: ts.Symbol, checker: ts.TypeChecker): { name: string; told: boolean }[] {
  const signatures = checker.getTypeOfSymbol(symbol).getCallSignatures();
  return signatures.flatMap(({ parameters }) => {
    const last = parameters.at(-1);
    if (last === undefined || !/^(?:options|definition)$/.test(last.name)) return [];
    const type = checker.getNonNullableType(checker.getTypeOfSymbol(last));
    const variants = type.isUnion() ? type.types : [type];
    const members = variants.flatMap((variant) => checker.getPropertiesOfType(variant));
    return members
      .filter((member) => (checker.getTypeOfSymbol(member).flags & ts.TypeFlags.Undefined) === 0)
      .map((member) => ({
        name: `${symbol.name}: ${member.name}`,
        told: member.getDocumentationComment(checker).length > 0,
      }));
  });
}

/** The messages of a provider and their parts, in its own words: its reference explains them. */
function isProviders(folder: string, name: string): boolean {
  return folder === "packages/formats" && /^(?:Anthropic|Chat|LangChain4j|Responses)[A-Z]/.test(name);
}

interface Declared {
  readonly name: string;
  readonly symbol: ts.Symbol;
  /** The names of what it extends: its members are named there without it. */
  readonly extended: readonly string[];
}

/** The interfaces and classes in a package's declarations, and what its entries export. */
interface Declarations {
  readonly declared: readonly Declared[];
  readonly exported: ReadonlySet<ts.Symbol>;
  readonly checker: ts.TypeChecker;
  readonly texts: readonly string[];
}

async function readDeclarations(folder: string, tarball: string): Promise<Declarations> {
  const unpacked = join(top, folder);
  mkdirSync(unpacked, { recursive: true });
  const { ok, output } = await execute("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components", "1"]);
  if (!ok) throw new Error(output);
  const files = readdirSync(join(unpacked, "dist"))
    .filter((file) => file.endsWith(".d.ts"))
    .map((file) => join(unpacked, "dist", file));
  const program = ts.createProgram(files, { module: ts.ModuleKind.NodeNext, strict: true, types: [] });
  const checker = program.getTypeChecker();
  const { exports } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
  const entries: string[] = Object.values<{ types?: string }>(exports).flatMap(({ types }) => types ?? []);
  const exported = entries.flatMap((entry) => {
    const module_ = symbolAt(sourceOf(program, join(unpacked, entry)), checker);
    // What another package declares is that package's.
    return checker
      .getExportsOfModule(module_)
      .map((symbol) => aliased(symbol, checker))
      .filter(({ declarations }) => declarations !== undefined);
  });
  const declared = files.flatMap((file) =>
    sourceOf(program, file).statements.flatMap((statement) => {
      if (!ts.isInterfaceDeclaration(statement) && !ts.isClassDeclaration(statement)) return [];
      const { name, heritageClauses = [] } = statement;
      if (name === undefined) return [];
      const extended = heritageClauses.flatMap(({ types }) =>
        types.map(({ expression }) => expression.getText()),
      );
      return [{ name: name.text, symbol: symbolAt(name, checker), extended }];
    }),
  );
  const texts = files.map((file) => readFileSync(file, "utf8"));
  return { declared, exported: new Set(exported), checker, texts };
}

function sourceOf(program: ts.Program, file: string): ts.SourceFile {
  const source = program.getSourceFile(file);
  if (source === undefined) throw new Error(`There is no ${file}.`);
  return source;
}

function symbolAt(node: ts.Node, checker: ts.TypeChecker): ts.Symbol {
  const symbol = checker.getSymbolAtLocation(node);
  if (symbol === undefined) throw new Error(`${node.getSourceFile().fileName} is no module.`);
  return symbol;
}

function aliased(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}
