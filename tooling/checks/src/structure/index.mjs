import * as documents from "./document-rules.mjs";
import * as imports from "./import-rules.mjs";
import * as manifests from "./manifest-rules.mjs";
import * as stores from "./store-rules.mjs";
import * as texts from "./text-rules.mjs";
import { readTree } from "./tree.mjs";

/** @type {Readonly<Record<string, import("./tree.mjs").Rule>>} */
export const rules = { ...imports, ...stores, ...manifests, ...documents, ...texts };

/**
 * What breaks which rule in the repository at `top`, one line each; nothing when all hold.
 *
 * @param {string} top
 * @returns {string[]}
 */
export function checkStructure(top) {
  const tree = readTree(top);
  return Object.entries(rules).flatMap(([name, rule]) => rule(tree).map((line) => `${name}: ${line}`));
}
