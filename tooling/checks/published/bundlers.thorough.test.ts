import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { UserProject } from "../src/published/project.mjs";
import { packed } from "./in-project.ts";

const program = `import { createChatMemory, user } from "@turnkeep/core";
import { postgresStore } from "@turnkeep/store-postgres";

const client = { query: async () => { throw new Error("asked"); } };
const ask = (store) => createChatMemory({ id: "a", store }).add(user("Hello"));
await ask(postgresStore({ client })).catch((error) => console.log(error.cause.message));
await ask(postgresStore({ url: "postgres://localhost" })).catch((error) => console.log(error.message));
await ask(postgresStore({ folder: "data" })).catch((error) => console.log(error.message));
`;

/** Who gives a client installs no driver; these stop at an import that leads nowhere, unless it stands in a \`try\`. */
const bundlers = {
  esbuild: [
    "esbuild/bin/esbuild",
    "program.mjs",
    "--bundle",
    "--platform=node",
    "--outfile=out.mjs",
    "--format=esm",
  ],
  webpack: ["webpack-cli/bin/cli.js"],
} as const;

it.each([
  { packages: ["esbuild@0.28.2"], command: bundlers.esbuild },
  { packages: ["webpack@5.112.2", "webpack-cli@7.3.1"], command: bundlers.webpack },
])("a store over a client is bundled without its driver by $packages.0", async ({ packages, command }) => {
  const project = UserProject.create();
  try {
    const tarballs = ["@turnkeep/core", "@turnkeep/store-postgres"].map((name) => packed.get(name) ?? name);
    await project.install([...tarballs, ...packages]);
    writeFileSync(join(project.folder, "program.mjs"), program);
    writeFileSync(
      join(project.folder, "webpack.config.mjs"),
      `export default {
  mode: "production",
  target: "node20",
  entry: "./program.mjs",
  experiments: { outputModule: true },
  output: { path: import.meta.dirname, filename: "out.mjs", module: true, chunkFormat: "module" },
};
`,
    );
    const [bin, ...args] = command;
    // esbuild looks there too, and pnpm has it lead to the workspace's own driver.
    await project.command(process.execPath, [`node_modules/${bin}`, ...args], { NODE_PATH: "" });
    const printed = await project.run("out.mjs", {});
    expect(printed).toMatch(
      /^asked\n.*need the driver "pg": install it.*\n.*needs the driver "@electric-sql\/pglite": install it/,
    );
  } finally {
    project.remove();
  }
});
