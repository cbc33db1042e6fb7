/**
 * Writes many memories with 100 messages each, reads them back, and says how long that took and whether any holds what
 * is not its own.
 *
 *     pnpm load [database…] [--memories 10000]
 */
import { parseArgs } from "node:util";
import { mixedUp } from "@turnkeep/store-tests/many-memories";
import { databases } from "./databases.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { memories: { type: "string", default: "10000" } },
});
const count = Number(values.memories);
const known = Object.keys(databases);
const chosen = positionals.length > 0 ? positionals : known;
const strange = chosen.filter((name) => !known.includes(name));
if (strange.length > 0 || !Number.isSafeInteger(count) || count < 1) {
  console.error(
    `Usage: pnpm load [${known.join(" | ")}…] [--memories ${values.memories}], a positive number`,
  );
  process.exit(2);
}

for (const name of chosen) {
  const { store, stop } = await (databases[name] as (typeof databases)[string])();
  try {
    const began = performance.now();
    const wrong = await mixedUp(store, count);
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const heap = Math.round(process.memoryUsage().heapUsed / 2 ** 20);
    console.log(
      `${name}: ${count} memories with 100 messages each in ${seconds} s, heap ${heap} MB, ${wrong.length} mixed up`,
    );
    if (wrong.length > 0) process.exitCode = 1;
  } finally {
    await stop();
  }
}
