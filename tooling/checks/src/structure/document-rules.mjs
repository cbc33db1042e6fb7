import { posix } from "node:path";
import { storesTable, tableIn } from "../documents/stores-table.mjs";
import { pageOf, publicPackages } from "./tree.mjs";

const list = "docs/stores.json";
const readme = "README.md";
const index = "llms.txt";
const fence = /^\s*(`{3,})[^\n]*\n[\s\S]*?^\s*\1\s*$/gm;

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

/**
 * `llms.txt` leads to every document that users read: the guides and the README of each public package.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function documentsAreListed(tree) {
  if (!tree.files.includes(index)) return [`There is no ${index}.`];
  const readmes = new Set(publicPackages(tree).map(({ folder }) => `${folder}/README.md`));
  const text = tree.read(index);
  return tree.files
    .filter((file) => (/^docs\/[^/]+\.md$/.test(file) || readmes.has(file)) && !text.includes(`](${file})`))
    .map((file) => `${index} does not list ${file}.`);
}

/**
 * A link of a document leads to what is there: to a file or folder of the repository, or to one by the repository's own
 * address. A path is relative to the document: only so does a registry, which shows a package's README by its `repository` and
 * `directory`, lead to the same place.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function linksLeadSomewhere(tree) {
  const known = new Set(tree.files.flatMap((file) => [file, ...foldersOf(file)]));
  const own = `${pageOf(tree)}/`;
  return tree.files.filter(isDocument).flatMap((file) =>
    [...proseOf(tree.read(file)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
      const [path = "", anchor] = link.split("#");
      const ofOurs = path.startsWith(own);
      const inside = ofOurs ? path.slice(own.length).replace(/^(?:blob|tree)\/main\//, "") : path;
      if (inside.startsWith("/")) return `${file} links to ${link}: say it relative to the document.`;
      if (inside === "issues" || /^[a-z]+:/.test(inside)) return [];
      const target =
        inside === "" ? file : posix.join(ofOurs ? "" : posix.dirname(file), inside).replace(/\/$/, "");
      const holds = known.has(target) && (anchor === undefined || anchorsOf(tree, target).has(anchor));
      return holds ? [] : `${file} links to ${link}, which is not there.`;
    }),
  );
}

/** @param {string} markdown */
function proseOf(markdown) {
  return markdown.replace(fence, "").replace(/`[^`\n]*`/g, "");
}

/**
 * The anchors that GitHub gives the headings of a document.
 *
 * @param {import("./tree.mjs").Tree} tree
 * @param {string} file
 */
function anchorsOf(tree, file) {
  if (!file.endsWith(".md")) return new Set();
  const headings = tree
    .read(file)
    .replace(fence, "")
    .matchAll(/^#+ (.*)$/gm);
  const slug = (/** @type {string} */ text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
  return new Set([...headings].map(([, text = ""]) => slug(text.trim())));
}

/**
 * A template's documents are those of whoever copied it.
 *
 * @param {string} file
 */
function isDocument(file) {
  return /\.md$|(?:^|\/)llms\.txt$/.test(file) && !file.startsWith("templates/");
}

/** @param {string} file */
function foldersOf(file) {
  const parts = file.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
