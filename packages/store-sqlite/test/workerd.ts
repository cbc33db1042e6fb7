import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

// Runs the kit in a real workerd, and writes the results to the file named first.
// Required and not imported: it must not become part of what this program is bundled into.
const { Miniflare } = createRequire(import.meta.url)("miniflare") as typeof import("miniflare");
const [answer = "", kind, bundle = "", ...groups] = process.argv.slice(2);

const miniflare = new Miniflare({
  modules: [{ type: "ESModule", path: "worker.mjs", contents: readFileSync(bundle, "utf8") }],
  compatibilityDate: "2026-07-01",
  d1Databases: { DB: "chat" },
  durableObjects: { CHAT: { className: "Chat", useSQLite: true } },
});

async function ask(query: string): Promise<unknown> {
  const response = await miniflare.dispatchFetch(`http://localhost/${kind}${query}`);
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  throw new Error(text);
}

const said = await ask("");
if (JSON.stringify(said) !== '["one","two"]') throw new Error(`The memory showed ${JSON.stringify(said)}`);
const results: unknown[] = [];
// One request each: an answer that takes minutes to begin is given up.
for (const group of groups) results.push(...((await ask(`?group=${group}`)) as unknown[]));
writeFileSync(answer, JSON.stringify(results));
await miniflare.dispose();
