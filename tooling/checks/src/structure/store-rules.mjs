const required = ["index.ts", "options.ts", "store.ts"];
const statements = ["sql.ts", "lua.ts", "documents.ts", "items.ts"];
const allowed = [
  "client.ts",
  "heads.ts",
  "migrations.ts",
  "reads.ts",
  "records.ts",
  "rows.ts",
  "staging.ts",
  "updates.ts",
];

/** What others copy to begin a store of their own; no package of the workspace. */
const template = "templates/store";

/**
 * Every store package, and the template of one, has the same source files: whoever knows one finds his way in the
 * others.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function storesLookAlike(tree) {
  const packages = tree.packages.map(({ folder }) => folder);
  const templates = tree.files.includes(`${template}/package.json`) ? [template] : [];
  return [...packages.filter((folder) => folder.startsWith("packages/store-")), ...templates].flatMap(
    (folder) => {
      const source = `${folder}/src/`;
      const names = tree.files
        .filter((file) => file.startsWith(source))
        .map((file) => file.slice(source.length));
      const missing = required.filter((name) => !names.includes(name));
      const own = names.filter((name) => statements.includes(name));
      const strange = names.filter((name) => ![...required, ...statements, ...allowed].includes(name));
      const choice = statements.join(", ");
      return [
        ...missing.map((name) => `${source} lacks ${name}: every store has ${required.join(", ")}.`),
        ...(own.length === 1 ? [] : [`${source} has ${own.length} of ${choice}: a store has exactly one.`]),
        ...strange.map(
          (name) => `${source}${name} is in no other store: use ${allowed.join(", ")}, or core.`,
        ),
      ];
    },
  );
}
