import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UserProject } from "../src/published/project.mjs";
import { root } from "../src/runner/workspace.mjs";
import { packed } from "./in-project.ts";

const markdown = readFileSync(join(root, "docs/where-it-runs.md"), "utf8");

/** The configuration that the document gives under that name. */
function configuration(name: string): string {
  const block = new RegExp(`<!-- jest: ${name} -->\n\`\`\`js\n([\\s\\S]*?)\n\`\`\``).exec(markdown)?.[1];
  if (block === undefined) throw new Error(`docs/where-it-runs.md has no configuration for Jest: ${name}.`);
  return block;
}

/** A memory, an entry of its own, and a store that loads its driver when it is first used. */
const test = `
test("keeps a conversation", async () => {
  const counter = { name: "one", count: () => 1 };
  const memory = createChatMemory({ processors: [tokenLimiter({ limit: 1000, counter })] });
  await memory.add(user("Hello"));
  expect(await memory.messages()).toHaveLength(1);
  const store = postgresStore({ url: "postgres://127.0.0.1:1/none" });
  await expect(store.migrate()).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  await store.close();
});
`;

const imports = [
  ["createChatMemory, user", "@turnkeep/core"],
  ["tokenLimiter", "@turnkeep/core/processors"],
  ["postgresStore", "@turnkeep/store-postgres"],
] as const;

const setups = [
  {
    name: "babel",
    file: "babel.test.js",
    code: imports.map(([names, from]) => `const { ${names} } = require("${from}");`).join("\n"),
  },
  {
    name: "ts-jest",
    file: "ts-jest.test.ts",
    code: imports.map(([names, from]) => `import { ${names} } from "${from}";`).join("\n"),
  },
];

const compilerOptions = {
  module: "commonjs",
  target: "ES2022",
  strict: true,
  allowJs: true,
  esModuleInterop: true,
  types: ["jest"],
};

const ours = ["@turnkeep/core", "@turnkeep/store-postgres"];
const jest = [
  "jest@30.5.2",
  "@babel/preset-env@7.29.0",
  "ts-jest@29.4.15",
  "typescript@5.9.3",
  "@types/jest@30.0.0",
];

describe("Jest, as docs/where-it-runs.md sets it up in a CommonJS project", () => {
  const project = UserProject.create();
  const write = (name: string, text: string): void => writeFileSync(join(project.folder, name), text);
  beforeAll(async () => {
    write("package.json", JSON.stringify({ name: "user", private: true }));
    write("tsconfig.json", JSON.stringify({ compilerOptions }));
    await project.install([...ours.map((name) => packed.get(name) ?? name), "pg@8.23.1", ...jest]);
  }, 600_000);
  afterAll(() => project.remove());

  it.each(setups)(
    "loads what it tests, with $name",
    async ({ name, file, code }) => {
      write("jest.config.cjs", configuration(name));
      write(file, code + test);
      const printed = await project.command(process.execPath, [
        "node_modules/jest/bin/jest.js",
        "--ci",
        file,
      ]);
      expect(printed).toMatch(/Tests: +1 passed, 1 total/);
    },
    600_000,
  );
});
