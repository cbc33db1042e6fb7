/** Writes the table of stores into the README, from `docs/stores.json`. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { storesTable, withTable } from "./checks/src/documents/stores-table.mjs";
import { root } from "./checks/src/runner/workspace.mjs";

const readme = join(root, "README.md");
const stores = JSON.parse(readFileSync(join(root, "docs/stores.json"), "utf8"));
writeFileSync(readme, withTable(readFileSync(readme, "utf8"), storesTable(stores)));
