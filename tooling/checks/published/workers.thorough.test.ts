import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDatabase, startPostgres } from "@turnkeep/servers";
import { expect, it } from "vitest";
import { UserProject } from "../src/published/project.mjs";
import { root } from "../src/runner/workspace.mjs";
import { packed } from "./in-project.ts";

/** The Worker that docs/where-it-runs.md shows. */
function documentedWorker(): string {
  const markdown = readFileSync(join(root, "docs/where-it-runs.md"), "utf8");
  const block = /<!-- worker -->\n```ts\n([\s\S]*?)\n```/.exec(markdown)?.[1];
  if (block === undefined) throw new Error("docs/where-it-runs.md shows no Worker.");
  return block;
}

/** Migrates, bundles the Worker as wrangler does, and asks it three times. */
const program = `import { builtinModules } from "node:module";
import { postgresStore } from "@turnkeep/store-postgres";
import { build } from "esbuild";
import { Miniflare } from "miniflare";

const url = process.env.DATABASE_URL;
const store = postgresStore({ url });
await store.migrate();
await store.close();

const filter = new RegExp(\`^(?:node:)?(?:\${builtinModules.join("|")})$\`);
const external = (path) => ({ path, external: true });
const runtime = {
  name: "what the runtime has",
  setup(build) {
    build.onResolve({ filter }, ({ path }) => external(path.startsWith("node:") ? path : \`node:\${path}\`));
    build.onResolve({ filter: /^cloudflare:/ }, ({ path }) => external(path));
  },
};
await build({
  entryPoints: ["worker.ts"],
  outfile: "bundle.mjs",
  bundle: true,
  format: "esm",
  platform: "node",
  conditions: ["workerd", "worker"],
  external: ["pg-native"],
  plugins: [runtime],
  logLevel: "error",
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire("/");' },
});
const worker = new Miniflare({
  // Listed as wrangler does: else Miniflare looks for drivers that the bundle names and the program does not use.
  modules: [{ type: "ESModule", path: "bundle.mjs" }],
  compatibilityDate: "2026-04-01",
  compatibilityFlags: ["nodejs_compat"],
  bindings: { DATABASE_URL: url },
});
for (const text of ["one", "two", "three"]) {
  const response = await worker.dispatchFetch("http://localhost/", { method: "POST", body: text });
  console.log(response.status, (await response.json()).map(({ content }) => content).join(" "));
}
await worker.dispose();
`;

it("a Worker that makes a store for each request answers every request", async () => {
  const server = await startPostgres();
  const project = UserProject.create();
  try {
    const database = await createDatabase(server.url);
    const tarballs = ["@turnkeep/core", "@turnkeep/store-postgres"].map((ours) => packed.get(ours) ?? ours);
    await project.install([...tarballs, "pg@8.23.1", "esbuild@0.28.2", "miniflare@4.20260730.0"]);
    writeFileSync(join(project.folder, "worker.ts"), documentedWorker());
    writeFileSync(join(project.folder, "program.mjs"), program);
    const printed = await project.run("program.mjs", { DATABASE_URL: database.url, NODE_PATH: "" });
    expect(printed).toContain("200 one\n200 one two\n200 one two three\n");
  } finally {
    project.remove();
    await server.stop();
  }
}, 600_000);
