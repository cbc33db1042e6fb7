import { basename, dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { pageOf, publicPackages } from "./tree.mjs";

/**
 * Every public package says what it is and ships no path to its sources.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function publicPackagesAreComplete(tree) {
  return complaintsOf(publicPackages(tree), ({ folder, manifest }) => {
    const at = `${folder}/package.json`;
    const published = manifest.publishConfig?.exports;
    return [
      [tree.files.includes(`${folder}/README.md`), `${folder} has no README.md.`],
      [tree.files.includes(`${folder}/AGENTS.md`), `${folder} has no AGENTS.md for those who use it.`],
      [manifest.license === "MIT", `${at} does not say "license": "MIT".`],
      [typeof manifest.description === "string", `${at} has no description.`],
      [manifest.type === "module", `${at} is no ES module: "type" must be "module".`],
      [manifest.sideEffects === false, `${at} does not say "sideEffects": false.`],
      [manifest.engines?.node === ">=20.19", `${at} does not say "engines": { "node": ">=20.19" }.`],
      [Array.isArray(manifest.files), `${at} does not list the "files" that it ships.`],
      [hasSources(manifest.exports), `${at} has an export without the condition "source".`],
      [
        isDeepStrictEqual(published, withoutSources(manifest.exports)),
        `${at}: publishConfig.exports must be exports without the condition "source".`,
      ],
      [
        leadsOldResolutionThere(manifest.publishConfig),
        `${at}: publishConfig.main, types and typesVersions must lead where its exports do, for TypeScript 5 with "module": "commonjs".`,
      ],
    ];
  });
}

/**
 * A registry shows of every public package where its sources are, where to report a fault, and how it is found. The
 * repository stands in the manifest of the workspace.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function publicPackagesAreFound(tree) {
  const { repository } = tree.manifest;
  const page = pageOf(tree);
  const shipped = ["README.md", "AGENTS.md", "CHANGELOG.md"];
  return complaintsOf(publicPackages(tree), ({ folder, manifest }) => {
    const at = `${folder}/package.json`;
    const own = { ...repository, directory: folder };
    const home = `${page}/tree/main/${folder}#readme`;
    return [
      [isDeepStrictEqual(manifest.repository, own), `${at}: repository must be ${JSON.stringify(own)}.`],
      [manifest.homepage === home, `${at}: homepage must be ${home}.`],
      [manifest.bugs === `${page}/issues`, `${at}: bugs must be ${page}/issues.`],
      [manifest.keywords?.length >= 3, `${at} has no three keywords by which it is found.`],
      [
        shipped.every((file) => manifest.files?.includes(file)),
        `${at}: files must hold ${shipped.join(", ")}.`,
      ],
    ];
  });
}

/**
 * @typedef {import("../runner/workspace.mjs").WorkspacePackage} WorkspacePackage
 */

/**
 * @param {readonly WorkspacePackage[]} packages
 * @param {(package_: WorkspacePackage) => [holds: boolean, complaint: string][]} check
 */
function complaintsOf(packages, check) {
  return packages.flatMap((package_) =>
    check(package_)
      .filter(([holds]) => !holds)
      .map(([, complaint]) => complaint),
  );
}

/**
 * Every package of the workspace has tests, which a script of its own runs or one run for the whole folder that it is in, and
 * its types are checked: by the program of the top, or by a script of its own or of the top. Without either it would be passed
 * over in silence. So would a file's mock of a module that others have loaded before, where files share modules.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function packagesAreChecked(tree) {
  const { include, exclude } = JSON.parse(tree.read("tsconfig.json"));
  /** @param {string} folder */
  const inOneProgram = (folder) =>
    !exclude.includes(folder) &&
    ["src", "test"].every((part) =>
      [`${folder}/${part}`, `${dirname(folder)}/*/${part}`].some((glob) => include.includes(glob)),
    );
  /** @param {string} folder */
  const atTheTop = (folder) => tree.manifest.scripts?.check?.includes(`tsc -p ${folder}/`);
  return complaintsOf(tree.packages, ({ folder, manifest: { scripts } }) => [
    [
      scripts?.test?.startsWith("vitest") || isInOneRun(tree, folder),
      `${folder}/package.json has no script "test" that begins with vitest.`,
    ],
    [
      inOneProgram(folder) || scripts?.check?.startsWith("tsc") || atTheTop(folder),
      `${folder} is not in tsconfig.json, and its package.json has no script "check" that begins with tsc.`,
    ],
    ...mocking(tree, folder).map(
      (file) =>
        /** @type {[boolean, string]} */ ([
          isSetApart(tree, folder, file),
          `${folder}/${file} mocks modules, and the vitest.config.ts neither sets it apart nor says isolate: true.`,
        ]),
    ),
  ]);
}

/**
 * Whether the run for the whole folder takes this package's tests: it names those that it leaves out.
 *
 * @param {import("./tree.mjs").Tree} tree
 * @param {string} folder
 */
function isInOneRun(tree, folder) {
  const config = `${dirname(folder)}/vitest.config.ts`;
  return (
    tree.files.includes(config) &&
    !tree.read(config).includes(`"${basename(folder)}"`) &&
    testFiles(tree, folder).some((file) => file.endsWith(".test.ts"))
  );
}

/**
 * @param {import("./tree.mjs").Tree} tree
 * @param {string} folder
 * @param {string} file relative to the package
 */
function isSetApart(tree, folder, file) {
  const own = `${folder}/vitest.config.ts`;
  const config = tree.read(tree.files.includes(own) ? own : `${dirname(folder)}/vitest.config.ts`);
  return config.includes("isolate: true") || config.includes(`"${file}"`);
}

/**
 * The tests that mock modules, relative to the package.
 *
 * @param {import("./tree.mjs").Tree} tree
 * @param {string} folder
 */
function mocking(tree, folder) {
  return testFiles(tree, folder)
    .filter((file) => /\bvi\.(?:mock|doMock)\(/.test(tree.read(file)))
    .map((file) => file.slice(folder.length + 1));
}

/**
 * @param {import("./tree.mjs").Tree} tree
 * @param {string} folder
 */
function testFiles(tree, folder) {
  return tree.files.filter((file) => file.startsWith(`${folder}/test/`) && file.endsWith(".ts"));
}

/**
 * The version of every library stands once, in the catalog; a peer's range is what users may bring.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function versionsComeFromTheCatalog(tree) {
  const manifests = [
    ...tree.packages.map(({ folder, manifest }) => ({ at: `${folder}/package.json`, manifest })),
    { at: "package.json", manifest: tree.manifest },
  ];
  const own = new Set(tree.packages.map(({ name }) => name));
  return manifests.flatMap(({ at, manifest }) =>
    ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"].flatMap((kind) =>
      Object.entries(manifest[kind] ?? {}).flatMap(([name, range]) => {
        if (own.has(name)) {
          return range === "workspace:^" ? [] : [`${at}: ${name} must be "workspace:^" in ${kind}.`];
        }
        if (kind === "peerDependencies" || /^catalog:/.test(String(range))) return [];
        return [`${at}: ${name} must be "catalog:" in ${kind}, its version in pnpm-workspace.yaml.`];
      }),
    ),
  );
}

/** @param {Record<string, any> | undefined} exports */
function hasSources(exports) {
  const entries = Object.entries(exports ?? {}).filter(([path]) => path !== "./package.json");
  return entries.length > 0 && entries.every(([, target]) => typeof target?.source === "string");
}

/**
 * TypeScript 5 with `"module": "commonjs"`, which is NestJS's default, does not read `exports`.
 *
 * @param {Record<string, any> | undefined} published
 */
function leadsOldResolutionThere({ exports, main, types, typesVersions } = {}) {
  const { ".": root, ...subpaths } = exports ?? {};
  const entries = Object.entries(subpaths)
    .filter(([, target]) => typeof target === "object")
    .map(([path, target]) => [path.replace(/^\.\//, ""), [target.types]]);
  const expected = entries.length === 0 ? undefined : { "*": Object.fromEntries(entries) };
  return main === root?.default && types === root?.types && isDeepStrictEqual(typesVersions, expected);
}

/** @param {Record<string, any> | undefined} exports */
function withoutSources(exports) {
  return Object.fromEntries(
    Object.entries(exports ?? {}).map(([path, target]) => {
      if (typeof target !== "object" || target === null) return [path, target];
      const { source: _, ...rest } = target;
      return [path, rest];
    }),
  );
}
