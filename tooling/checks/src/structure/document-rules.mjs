import { storesTable, tableIn } from "../documents/stores-table.mjs";

const list = "docs/stores.json";
const readme = "README.md";

/**
 * The README shows the stores that `docs/stores.json` lists, and the list names every store package.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function storesAreListed(tree) {
  if (!tree.files.includes(list)) return [];
  /** @type {import("../documents/stores-table.mjs").Stores} */
  const stores = JSON.parse(tree.read(list));
  const listed = new Set(stores.ours.map((store) => store.folder));
  const missing = tree.packages
    .filter(({ folder }) => folder.startsWith("packages/store-") && !listed.has(folder))
    .map(({ folder }) => `${list} does not list ${folder}.`);
  if (tableIn(tree.read(readme)) === storesTable(stores)) return missing;
  return [...missing, `The table of stores in ${readme} is not that of ${list}: run pnpm stores.`];
}
