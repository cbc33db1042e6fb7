import { storesTable, tableIn } from "../documents/stores-table.mjs";

const list = "docs/stores.json";
const readme = "README.md";

/** What a harness must have offered to the kit: without it, data that is lost, revived or left behind is not seen. */
const askedFor = ["fault", "rawRead", "given", "reopen"];

/**
 * The README shows the stores that `docs/stores.json` lists, and the list names every store package. Others' stores have
 * passed the kit with a harness that offers enough.
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
  const unshown = stores.community.flatMap(({ store, offered = [] }) => {
    const lacking = askedFor.filter((name) => !offered.includes(name));
    if (lacking.length === 0) return [];
    return `${list}: ${store} was tried without ${lacking.join(", ")}: copy "offered" from the kit's JSON report.`;
  });
  missing.push(...unshown);
  if (tableIn(tree.read(readme)) === storesTable(stores)) return missing;
  return [...missing, `The table of stores in ${readme} is not that of ${list}: run pnpm stores.`];
}
