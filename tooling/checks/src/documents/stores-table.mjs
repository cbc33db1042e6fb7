/**
 * @typedef {object} OurStore
 * @property {string} package
 * @property {string} store what the package exports
 * @property {string} database
 * @property {string} folder relative to the top of the repository
 *
 * @typedef {object} CommunityStore
 * @property {string} package
 * @property {string} store what the package exports
 * @property {string} database
 * @property {string} link where the package is described
 * @property {string} author
 * @property {string} kit the version of the conformance kit that it passed
 * @property {readonly string[]} offered what its harness offered to the kit, as the kit's JSON report says
 * @property {string} [badge] the address of the badge that the kit drew
 *
 * @typedef {object} Stores
 * @property {readonly OurStore[]} ours
 * @property {readonly CommunityStore[]} community
 */

const begin = "<!-- stores: from docs/stores.json, by pnpm stores -->";
const end = "<!-- end of stores -->";

/**
 * The table of stores for a README: ours, then others'.
 *
 * @param {Stores} stores
 */
export function storesTable({ ours, community }) {
  const rows = [
    ...ours.map((store) => [
      `\`${store.store}\``,
      store.database,
      `[\`${store.package}\`](${store.folder})`,
      "at every commit",
      "Turnkeep",
    ]),
    ...community.map((store) => [
      `\`${store.store}\``,
      store.database,
      `[\`${store.package}\`](${store.link})`,
      store.badge === undefined ? `kit ${store.kit}` : `![kit ${store.kit}](${store.badge})`,
      store.author,
    ]),
  ];
  const lines = [["store", "database", "package", "conformance", "by"], Array(5).fill("---"), ...rows];
  return lines.map((cells) => `| ${cells.map(escaped).join(" | ")} |\n`).join("");
}

/**
 * The table that a document shows between its marks; `undefined` if it has no marks.
 *
 * @param {string} markdown
 */
export function tableIn(markdown) {
  const place = placeIn(markdown);
  return place === undefined ? undefined : markdown.slice(...place);
}

/**
 * The document with another table between its marks.
 *
 * @param {string} markdown
 * @param {string} table
 */
export function withTable(markdown, table) {
  const place = placeIn(markdown);
  if (place === undefined) throw new Error(`There is no place for the table: set ${begin} and ${end}.`);
  return markdown.slice(0, place[0]) + table + markdown.slice(place[1]);
}

/**
 * @param {string} markdown
 * @returns {[number, number] | undefined}
 */
function placeIn(markdown) {
  const from = markdown.indexOf(`${begin}\n`);
  const to = markdown.indexOf(end, from);
  return from === -1 || to === -1 ? undefined : [from + begin.length + 1, to];
}

/** @param {string} cell */
function escaped(cell) {
  return cell.replaceAll("|", "\\|");
}
