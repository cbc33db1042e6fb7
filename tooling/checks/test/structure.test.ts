import { describe, expect, it } from "vitest";
import { type Stores, storesTable, withTable } from "../src/documents/stores-table.mjs";
import { rules } from "../src/structure/index.mjs";
import { breachesOf, oneProgram, soundTree } from "./fixture.ts";

type Tree = ReturnType<typeof soundTree>;
type Change = (tree: Tree) => void;

function write(path: string, content: string): Change {
  return (tree) => {
    tree[path] = content;
  };
}

/** A source that the package's index imports. */
function writeUsed(path: string, content: string): Change {
  return (tree) => {
    const [folder = "", name] = path.split("/src/");
    write(path, content)(tree);
    tree[`${folder}/src/index.ts`] += `import "./${name}";\n`;
  };
}

function remove(path: string): Change {
  return (tree) => {
    delete tree[path];
  };
}

function manifest(folder: string, change: (manifest: Record<string, unknown>) => void): Change {
  return (tree) => change(tree[`${folder}/package.json`] as Record<string, unknown>);
}

/** Joined here, so that this file does not itself break the rule that it tests. */
const host = ["registry", "npmjs", "org"].join(".");
const home = ["", "home", "someone", "project"].join("/");

const cases: [rule: string, what: string, change: Change, complaint: RegExp][] = [
  [
    "relativeImportsStayInside",
    "a source that imports its own tests",
    write("packages/core/src/one.ts", 'export * from "../test/one.test.ts";\n'),
    /one\.ts imports \.\.\/test\/one\.test\.ts, which is outside packages\/core\/src\//,
  ],
  [
    "relativeImportsStayInside",
    "a test that imports a sibling's file",
    write("packages/formats/test/a.test.ts", 'import "../../core/src/one.ts";\n'),
    /a\.test\.ts imports \.\.\/\.\.\/core\/src\/one\.ts/,
  ],
  [
    "relativeImportsStayInside",
    "a dynamic import out of the package",
    write("packages/formats/src/index.ts", 'export const late = import("../../core/src/one.ts");\n'),
    /index\.ts imports \.\.\/\.\.\/core\/src\/one\.ts/,
  ],
  [
    "noDeepImports",
    "a path that the sibling does not export",
    write("packages/formats/src/index.ts", 'export { one } from "@turnkeep/core/src/one.ts";\n'),
    /@turnkeep\/core does not export/,
  ],
  [
    "importsAreDeclared",
    "a source that imports what only the tests have",
    write("packages/store-sql/src/sql.ts", 'export { test as sql } from "vitest";\n'),
    /does not list vitest in dependencies/,
  ],
  [
    "importsAreDeclared",
    "a test that imports what nobody declares",
    write("packages/formats/test/a.test.ts", 'import "left-pad/deep";\n'),
    /does not list left-pad in devDependencies/,
  ],
  [
    "importsAreDeclared",
    "a folder with a manifest of its own that imports what only the package around it declares",
    (tree) => {
      write("packages/formats/peers/one/package.json", '{"dependencies":{"left-pad":"1.3.0"}}')(tree);
      write("packages/formats/peers/one/a.mjs", 'import "left-pad";\nimport "vitest";\n')(tree);
    },
    /imports vitest: packages\/formats\/peers\/one\/package\.json does not list/,
  ],
  [
    "sourcesAreUsed",
    "a source that only a test imports",
    (tree) => {
      write("packages/core/src/dead.ts", 'export { one } from "./one.ts";\n')(tree);
      write("packages/core/test/dead.test.ts", 'import "../src/dead.ts";\n')(tree);
    },
    /core\/src\/dead\.ts is imported by nothing that packages\/core exports or builds/,
  ],
  [
    "coreStandsAlone",
    "a test of core that imports a sibling",
    (tree) => {
      manifest("packages/core", (core) => {
        core.devDependencies = { "@turnkeep/formats": "workspace:^", vitest: "catalog:" };
      })(tree);
      write("packages/core/test/one.test.ts", 'import "@turnkeep/formats";\n')(tree);
    },
    /core knows no sibling/,
  ],
  [
    "coreStandsAlone",
    "a source of core that imports a library",
    (tree) => {
      manifest("packages/core", (core) => {
        core.dependencies = { zod: "catalog:" };
      })(tree);
      write("packages/core/src/one.ts", 'export type { z } from "zod";\n')(tree);
    },
    /core depends on nothing/,
  ],
  [
    "noNodeBuiltIns",
    "a source of core that imports node:crypto",
    write("packages/core/src/one.ts", 'export { randomUUID } from "node:crypto";\n'),
    /imports node:crypto: @turnkeep\/core runs where Node does not/,
  ],
  [
    "noNodeBuiltIns",
    "a source of formats that requires fs by its bare name",
    write("packages/formats/src/index.ts", 'export const fs = await import("fs/promises");\n'),
    /imports fs\/promises/,
  ],
  [
    "arrowsRunOneWay",
    "a store's source that imports another package than core",
    (tree) => {
      manifest("packages/store-sql", (store) => {
        store.dependencies = { "@turnkeep/formats": "workspace:^" };
      })(tree);
      write("packages/store-sql/src/sql.ts", 'export { one as sql } from "@turnkeep/formats";\n')(tree);
    },
    /src of @turnkeep\/store-sql may import only core\./,
  ],
  [
    "arrowsRunOneWay",
    "formats that import a server, though only in a test",
    (tree) => {
      manifest("packages/formats", (formats) => {
        formats.devDependencies = { "@turnkeep/servers": "workspace:^" };
      })(tree);
      write("packages/formats/test/a.test.ts", 'import "@turnkeep/servers";\n')(tree);
    },
    /test of @turnkeep\/formats may import only core, conformance\./,
  ],
  [
    "foldersRunOneWay",
    "folders of a package that import each other by a detour",
    (tree) => {
      writeUsed("packages/core/src/view/view.ts", 'export * from "../window/plan.ts";\n')(tree);
      writeUsed("packages/core/src/window/plan.ts", 'export * from "../memory/item.ts";\n')(tree);
      writeUsed("packages/core/src/memory/item.ts", 'export type { view } from "../view/view.ts";\n')(tree);
      writeUsed("packages/core/src/format/codec.ts", 'export * from "../view/view.ts";\n')(tree);
    },
    /src\/memory, \S+src\/view, \S+src\/window import each other in a circle: (\S+ imports \S+[;.] ?){3}$/,
  ],
  [
    "filesFormNoCircle",
    "files that import each other by a detour, types apart",
    (tree) => {
      writeUsed(
        "packages/core/src/two.ts",
        'import { three } from "./three.ts";\nexport const two = three;\n',
      )(tree);
      writeUsed("packages/core/src/three.ts", 'export * from "./four.ts";\n')(tree);
      writeUsed("packages/core/src/four.ts", 'import "./two.ts";\nexport const three = 3;\n')(tree);
      writeUsed(
        "packages/core/src/five.ts",
        'import type { Six } from "./six.ts";\nexport type Five = Six;\n',
      )(tree);
      writeUsed(
        "packages/core/src/six.ts",
        'import { type Five } from "./five.ts";\nexport type Six = Five | 6;\n',
      )(tree);
    },
    /: packages\/core\/src\/four\.ts, \S+three\.ts, \S+two\.ts import each other in a circle\.$/,
  ],
  [
    "storesLookAlike",
    "a store without its options",
    remove("packages/store-sql/src/options.ts"),
    /lacks options\.ts/,
  ],
  [
    "storesLookAlike",
    "a store without a file of statements",
    remove("packages/store-sql/src/sql.ts"),
    /has 0 of sql\.ts, lua\.ts, documents\.ts, items\.ts/,
  ],
  [
    "storesLookAlike",
    "a store with two files of statements",
    writeUsed("packages/store-sql/src/lua.ts", "export const lua = 1;\n"),
    /has 2 of/,
  ],
  [
    "storesLookAlike",
    "a store with a file of its own",
    writeUsed("packages/store-sql/src/helpers.ts", "export const help = 1;\n"),
    /src\/helpers\.ts is in no other store/,
  ],
  [
    "storesLookAlike",
    "a store with a folder of its own",
    writeUsed("packages/store-sql/src/helpers/help.ts", "export const help = 1;\n"),
    /src\/helpers\/help\.ts is in no other store/,
  ],
  [
    "storesLookAlike",
    "a template that lacks a file",
    (tree) => {
      tree["templates/store/package.json"] = { name: "template" };
      for (const name of ["index", "options", "sql"]) {
        write(`templates/store/src/${name}.ts`, "export const one = 1;\n")(tree);
      }
    },
    /templates\/store\/src\/ lacks store\.ts/,
  ],
  [
    "storesAreListed",
    "a table that is not that of the list",
    write("README.md", "A fixture without a table.\n"),
    /The table of stores in README\.md is not that of docs\/stores\.json: run pnpm stores/,
  ],
  [
    "storesAreListed",
    "a store that the list has not",
    (tree) => {
      tree["docs/stores.json"] = { ours: [], community: [] };
      write(
        "README.md",
        withTable(String(tree["README.md"]), storesTable({ ours: [], community: [] })),
      )(tree);
    },
    /docs\/stores\.json does not list packages\/store-sql/,
  ],
  [
    "storesAreListed",
    "a store of others that was tried without what shows losses",
    (tree) => {
      const { ours } = tree["docs/stores.json"] as { ours: Stores["ours"] };
      const theirs = {
        package: "theirs",
        store: "theirStore",
        database: "A",
        link: "https://store.example",
        author: "Ann",
        kit: "1",
      };
      const stores = { ours, community: [{ ...theirs, offered: ["rawRead", "given"] }] };
      tree["docs/stores.json"] = stores;
      write("README.md", withTable(String(tree["README.md"]), storesTable(stores)))(tree);
    },
    /theirStore was tried without fault, reopen: copy "offered" from the kit's JSON report/,
  ],
  [
    "packagesAreChecked",
    "a package without tests",
    manifest("packages/core", (core) => {
      core.scripts = {};
    }),
    /packages\/core\/package\.json has no script "test" that begins with vitest/,
  ],
  [
    "packagesAreChecked",
    "a package that the run for all beside it leaves out",
    (tree) => {
      write("packages/vitest.config.ts", 'export default { exclude: ["core"] };\n')(tree);
      manifest("packages/core", (core) => {
        core.scripts = {};
      })(tree);
    },
    /packages\/core\/package\.json has no script "test" that begins with vitest/,
  ],
  [
    "packagesAreChecked",
    "a private package whose types nobody checks",
    write("tsconfig.json", JSON.stringify({ ...oneProgram, exclude: ["tooling/servers"] })),
    /tooling\/servers is not in tsconfig\.json, and its package\.json has no script "check" that begins with tsc/,
  ],
  [
    "packagesAreChecked",
    "a package in a folder that the one program does not know",
    write("tsconfig.json", JSON.stringify({ ...oneProgram, include: ["packages/*/src", "packages/*/test"] })),
    /tooling\/servers is not in tsconfig\.json/,
  ],
  [
    "packagesAreChecked",
    "a mock of a module in a package whose tests share modules",
    write("packages/core/test/mocked.test.ts", `vi.${"mock"}("../src/one.ts", () => ({}));`),
    /packages\/core\/test\/\S+ mocks modules, and the vitest\.config\.ts neither sets it apart nor says isolate/,
  ],
  [
    "publicPackagesAreComplete",
    "no README",
    (tree) => {
      remove("packages/formats/README.md")(tree);
      tree["llms.txt"] = (tree["llms.txt"] as string).replace("- [One](packages/formats/README.md)\n", "");
    },
    /has no README\.md/,
  ],
  ["publicPackagesAreComplete", "no AGENTS.md", remove("packages/formats/AGENTS.md"), /has no AGENTS\.md/],
  [
    "documentsAreListed",
    "a guide that llms.txt leaves out",
    write("docs/a.md", "A.\n"),
    /does not list docs\/a\.md/,
  ],
  [
    "publicPackagesAreComplete",
    "another license",
    manifest("packages/formats", (formats) => {
      formats.license = "UNLICENSED";
    }),
    /"license": "MIT"/,
  ],
  [
    "publicPackagesAreComplete",
    "no description",
    manifest("packages/formats", (formats) => {
      delete formats.description;
    }),
    /has no description/,
  ],
  [
    "publicPackagesAreComplete",
    "no word on side effects",
    manifest("packages/formats", (formats) => {
      delete formats.sideEffects;
    }),
    /"sideEffects": false/,
  ],
  [
    "publicPackagesAreComplete",
    "an older Node",
    manifest("packages/formats", (formats) => {
      formats.engines = { node: ">=18" };
    }),
    /"node": ">=20\.19"/,
  ],
  [
    "publicPackagesAreComplete",
    "the condition source in what is published",
    manifest("packages/formats", (formats) => {
      formats.publishConfig = { ...(formats.publishConfig as object), exports: formats.exports };
    }),
    /publishConfig\.exports must be exports without/,
  ],
  [
    "publicPackagesAreComplete",
    "no types where exports are not read",
    manifest("packages/formats", (formats) => {
      formats.publishConfig = { exports: (formats.publishConfig as { exports: unknown }).exports };
    }),
    /publishConfig\.main, types and typesVersions must lead where/,
  ],
  [
    "publicPackagesAreFound",
    "a repository without the package's folder",
    manifest("packages/formats", (formats) => {
      formats.repository = { type: "git", url: "git+https://github.com/fixture/fixture.git" };
    }),
    /repository must be \{.*"directory":"packages\/formats"\}/,
  ],
  [
    "publicPackagesAreFound",
    "another's homepage",
    manifest("packages/formats", (formats) => {
      formats.homepage = "https://github.com/fixture/fixture";
    }),
    /homepage must be https:.*packages\/formats#readme/,
  ],
  [
    "publicPackagesAreFound",
    "no place for faults",
    manifest("packages/formats", (formats) => {
      delete formats.bugs;
    }),
    /bugs must be https:.*\/issues/,
  ],
  [
    "publicPackagesAreFound",
    "no keywords",
    manifest("packages/formats", (formats) => {
      delete formats.keywords;
    }),
    /no three keywords/,
  ],
  [
    "publicPackagesAreFound",
    "a changelog that is not shipped",
    manifest("packages/formats", (formats) => {
      formats.files = ["dist", "README.md"];
    }),
    /files must hold README\.md/,
  ],
  [
    "linksLeadSomewhere",
    "a file that is not there",
    write("packages/formats/README.md", "See [this](../core/src/two.ts).\n"),
    /packages\/formats\/README\.md links to \.\.\/core\/src\/two\.ts, which is not there/,
  ],
  [
    "linksLeadSomewhere",
    "a file that is not in the repository",
    write("NOTES.md", "- [Two](https://github.com/fixture/fixture/blob/main/docs/two.md)\n"),
    /NOTES\.md links to https:.*two\.md, which is not there/,
  ],
  [
    "linksLeadSomewhere",
    "a heading that is not there",
    write("packages/formats/README.md", "See [this](../core/README.md#to-end).\n"),
    /links to \.\.\/core\/README\.md#to-end, which is not there/,
  ],
  [
    "linksLeadSomewhere",
    "a path from the top, which a registry takes for one from the package's folder",
    write("packages/formats/README.md", "See [this](/README.md).\n"),
    /links to \/README\.md: say it relative to the document/,
  ],
  [
    "versionsComeFromTheCatalog",
    "a version of its own",
    manifest("packages/formats", (formats) => {
      formats.devDependencies = { vitest: "^4.0.0" };
    }),
    /vitest must be "catalog:" in devDependencies/,
  ],
  [
    "versionsComeFromTheCatalog",
    "a version of its own at the top",
    (tree) => {
      const top = tree["package.json"] as Record<string, unknown>;
      tree["package.json"] = { ...top, devDependencies: { tsdown: "1.0.0" } };
    },
    /^versionsComeFromTheCatalog: package\.json: tsdown must be/,
  ],
  [
    "versionsComeFromTheCatalog",
    "a sibling by version",
    manifest("packages/formats", (formats) => {
      formats.peerDependencies = { "@turnkeep/core": "^1.0.0" };
    }),
    /@turnkeep\/core must be "workspace:\^" in peerDependencies/,
  ],
  [
    "versionsComeFromTheCatalog",
    "a sibling of any version",
    manifest("packages/formats", (formats) => {
      formats.peerDependencies = { "@turnkeep/core": "workspace:*" };
    }),
    /@turnkeep\/core must be "workspace:\^" in peerDependencies/,
  ],
  [
    "noMachinePaths",
    "what was once in a temporary folder",
    write("NOTES.md", `See ${["", "tmp", "notes-1"].join("/")}.\n`),
    /NOTES\.md:1 names a folder of one machine/,
  ],
  [
    "noMachinePaths",
    "a folder of somebody's machine",
    write("NOTES.md", `See ${home}.\n`.replace("project", "project/notes")),
    /NOTES\.md:1 names a folder of one machine/,
  ],
  [
    "noRegistryHosts",
    "a registry's host in the lock file",
    write("pnpm-lock.yaml", `packages:\n  pg@8.0.0: {tarball: https://${host}/pg.tgz}\n`),
    /pnpm-lock\.yaml:2 names the registry host/,
  ],
  [
    "noRegistryHosts",
    "a download address in the lock file",
    write("pnpm-lock.yaml", "packages:\n  pg@8.0.0: {tarball: https://mirror.example/pg.tgz}\n"),
    /pnpm-lock\.yaml:2 pins a download address/,
  ],
];

describe("the structure check", () => {
  it("finds nothing in a sound repository", () => {
    expect(breachesOf(soundTree())).toEqual([]);
  });

  it("takes what is tested or compiled with others for checked", () => {
    const tree = soundTree();
    write("packages/vitest.config.ts", "export default {};\n")(tree);
    manifest("packages/core", (core) => {
      core.scripts = {};
    })(tree);
    write("tsconfig.json", JSON.stringify({ ...oneProgram, exclude: ["tooling/servers"] }))(tree);
    const top = tree["package.json"] as Record<string, unknown>;
    top.scripts = { check: "tsc -p tooling/servers/tsconfig.json" };
    expect(breachesOf(tree)).toEqual([]);
  });

  it.each(cases)("%s: %s", (rule, _what, change, complaint) => {
    const tree = soundTree();
    change(tree);
    const found = breachesOf(tree);
    expect(found).toEqual([expect.stringMatching(complaint)]);
    expect(found[0]).toMatch(new RegExp(`^${rule}: `));
  });

  it("has a case here for every rule", () => {
    expect([...new Set(cases.map(([rule]) => rule))].sort()).toEqual(Object.keys(rules).sort());
  });
});
