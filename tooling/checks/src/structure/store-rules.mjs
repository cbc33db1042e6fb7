const required = ["index.ts", "options.ts", "store.ts"];
/**
 * The file with a store's statements, which says what kind of store it is, and the files and folders that only that kind has
 * beside it.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const kinds = {
  "sql.ts": ["drivers.ts", "folder/", "parameters.ts", "pool.ts"],
  "lua.ts": ["drivers.ts", "lists.ts", "scripts.ts"],
  "documents.ts": ["changes.ts", "statements.ts"],
  "items.ts": ["head.ts", "history.ts", "ids.ts", "lists.ts", "plans.ts", "rows.ts", "table.ts", "writes.ts"],
};
const statements = Object.keys(kinds);
const allowed = ["client.ts", "migrations.ts", "records.ts", "refusals.ts", "staging.ts", "updates.ts"];

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
      const ofItsKind = own.flatMap((name) => kinds[name] ?? []);
      const known = [...required, ...statements, ...allowed, ...ofItsKind];
      const strange = names.filter((name) => !known.includes(name.replace(/\/.*/, "/")));
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
