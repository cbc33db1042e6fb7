import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { storesTable, withTable } from "../src/documents/stores-table.mjs";
import { checkStructure } from "../src/structure/index.mjs";

type Json = Record<string, unknown>;

const page = "https://github.com/fixture/fixture";
const repository = { type: "git", url: `git+${page}.git` };

function publicManifest(name: string, more: Json = {}): Json {
  const directory = `packages/${name.replace("@turnkeep/", "")}`;
  const built = { types: "./dist/index.d.ts", default: "./dist/index.js" };
  return {
    name,
    description: "A fixture.",
    license: "MIT",
    type: "module",
    sideEffects: false,
    keywords: ["one", "two", "three"],
    homepage: `${page}/tree/main/${directory}#readme`,
    bugs: `${page}/issues`,
    repository: { ...repository, directory },
    engines: { node: ">=20.19" },
    files: ["dist", "README.md", "AGENTS.md", "CHANGELOG.md"],
    exports: { ".": { source: "./src/index.ts", ...built }, "./package.json": "./package.json" },
    scripts,
    publishConfig: {
      main: built.default,
      types: built.types,
      exports: { ".": built, "./package.json": "./package.json" },
    },
    ...more,
  };
}

const scripts = { test: "vitest run" };

/** The types of all packages. */
export const oneProgram = {
  include: ["packages/*/src", "packages/*/test", "tooling/*/src", "tooling/*/test"],
  exclude: [] as string[],
};
const core = { "@turnkeep/core": "workspace:^" };
const tests = { vitest: "catalog:" };

const stores = {
  ours: [{ package: "@turnkeep/store-sql", store: "store", database: "a | b", folder: "packages/store-sql" }],
  community: [],
};

/** A small repository that breaks no rule. */
export function soundTree(): Record<string, string | Json> {
  return {
    "package.json": {
      name: "fixture",
      private: true,
      type: "module",
      repository,
      devDependencies: { tsdown: "catalog:" },
    },
    "README.md": withTable(
      "<!-- stores: from docs/stores.json, by pnpm stores -->\n<!-- end of stores -->\n",
      storesTable(stores),
    ),
    "docs/stores.json": stores,
    "vitest.shared.ts": "export const shared = {};\n",
    "tsconfig.json": oneProgram,
    "packages/core/package.json": publicManifest("@turnkeep/core", { devDependencies: tests }),
    "packages/core/README.md":
      "# Core\n\n[The sources](src/index.ts), [all](../../README.md) and [below](#to-begin).\n\n## To `begin`\n",
    "llms.txt": ["core", "formats", "store-sql"]
      .map((name) => `- [One](packages/${name}/README.md)\n`)
      .join(""),
    ...Object.fromEntries(
      ["core", "formats", "store-sql"].map((name) => [`packages/${name}/AGENTS.md`, "How to use it.\n"]),
    ),
    "packages/core/src/index.ts": 'export { one } from "./one.ts";\n',
    "packages/core/src/one.ts": "export const one = 1;\n",
    "packages/core/test/one.test.ts":
      'import { readFileSync } from "node:fs";\nimport { test } from "vitest";\nimport { one } from "../src/one.ts";\ntest(String(one), () => void readFileSync);\n',
    "packages/core/tsdown.config.ts":
      'import { defineConfig } from "tsdown";\nexport default defineConfig({});\n',
    "packages/core/vitest.config.ts":
      'import { shared } from "../../vitest.shared.ts";\nexport default shared;\n',
    "packages/formats/package.json": publicManifest("@turnkeep/formats", { peerDependencies: core }),
    "packages/formats/README.md": "Formats.\n",
    "packages/formats/src/index.ts": 'export { one } from "@turnkeep/core";\n',
    "packages/store-sql/package.json": publicManifest("@turnkeep/store-sql", {
      peerDependencies: { ...core, pg: "^8.0.0" },
      devDependencies: { "@turnkeep/servers": "workspace:^", ...tests },
    }),
    "packages/store-sql/README.md": "A store.\n",
    "packages/store-sql/src/index.ts":
      'export type { PoolConfig } from "./options.ts";\nexport { sql } from "./sql.ts";\nexport { store } from "./store.ts";\n',
    "packages/store-sql/src/options.ts": 'export type { PoolConfig } from "pg";\n',
    "packages/store-sql/src/sql.ts": 'export const sql = "select 1";\n',
    "packages/store-sql/src/store.ts":
      'import { randomUUID } from "node:crypto";\nimport { one } from "@turnkeep/core";\nexport const store = [one, randomUUID];\n',
    "packages/store-sql/test/store.test.ts":
      'import { server } from "@turnkeep/servers";\nimport { test } from "vitest";\ntest(server, () => {});\n',
    "tooling/servers/package.json": {
      name: "@turnkeep/servers",
      private: true,
      scripts,
      exports: { ".": "./index.ts" },
    },
    "tooling/servers/index.ts": 'export const server = "server";\n',
    "pnpm-lock.yaml": "packages:\n  pg@8.0.0:\n    resolution: {integrity: sha512-fixture}\n",
  };
}

/** What the structure check finds in a repository of these files, known to git. */
export function breachesOf(files: Record<string, string | Json>): string[] {
  const top = mkdtempSync(join(tmpdir(), "turnkeep-structure-"));
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(top, path)), { recursive: true });
      writeFileSync(join(top, path), typeof content === "string" ? content : JSON.stringify(content));
    }
    execFileSync("git", ["init", "--quiet"], { cwd: top });
    execFileSync("git", ["add", "--all"], { cwd: top });
    return checkStructure(top);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}
