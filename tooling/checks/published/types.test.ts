import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../src/runner/workspace.mjs";
import { inProject } from "./in-project.ts";

/** What a page in a browser may import: every entry, so that all declarations are read. */
const webEntries = [
  "@turnkeep/core",
  "@turnkeep/core/processors",
  "@turnkeep/core/store-kit",
  "@turnkeep/assistant",
  "@turnkeep/assistant/anthropic",
  "@turnkeep/assistant/openai",
  "@turnkeep/assistant/openai-compatible",
  "@turnkeep/formats/ai-sdk",
  "@turnkeep/formats/anthropic",
  "@turnkeep/formats/bedrock",
  "@turnkeep/formats/convert",
  "@turnkeep/formats/gemini",
  "@turnkeep/formats/langchain4j",
  "@turnkeep/formats/ollama",
  "@turnkeep/formats/openai",
  "@turnkeep/formats/openai-responses",
  "@turnkeep/formats/profiles",
  "@turnkeep/tokens",
];
const webPackages = ["@turnkeep/core", "@turnkeep/assistant", "@turnkeep/formats", "@turnkeep/tokens"];
const stores = ["dynamo", "mongo", "postgres", "redis", "sqlite"].map((name) => `@turnkeep/store-${name}`);
const entries = [
  ...webEntries,
  ...stores,
  "@turnkeep/conformance",
  "@turnkeep/conformance/node-test",
  "@turnkeep/conformance/vitest",
];
const packages = [...webPackages, ...stores, "@turnkeep/conformance"];
/** In the thorough run alone: to read the frameworks' own declarations takes longer than all of ours. */
const bridges = [
  {
    of: "the bridge to LangChain",
    entries: ["@turnkeep/langchain", "@turnkeep/langchain/middleware"],
    packages: ["@turnkeep/core", "@turnkeep/langchain", "@langchain/core", "langchain"],
  },
  {
    of: "the bridge to ADK",
    entries: ["@turnkeep/google-adk"],
    packages: ["@turnkeep/core", "@turnkeep/formats", "@turnkeep/google-adk", "@google/adk"],
  },
  {
    of: "the bridge to the AI SDK",
    entries: ["@turnkeep/ai-sdk", "@turnkeep/ai-sdk/client"],
    packages: ["@turnkeep/ai-sdk", "@turnkeep/core", "@turnkeep/formats", "ai"],
  },
  {
    of: "the bridge to the OpenAI Agents SDK",
    entries: ["@turnkeep/openai-agents"],
    packages: ["@turnkeep/core", "@turnkeep/openai-agents", "@openai/agents-core", "zod"],
  },
  {
    of: "the bridge to TanStack AI",
    entries: ["@turnkeep/tanstack-ai"],
    packages: ["@turnkeep/core", "@turnkeep/tanstack-ai", "@tanstack/ai"],
  },
];

describe("types", () => {
  it("hold in a project for browsers, without Node's types and the newest library of TypeScript", async () => {
    await inProject(webPackages, async (project) => {
      await project.compile(
        exportsOf(webEntries),
        {},
        { types: [], target: "ES2022", lib: ["ES2022", "DOM"] },
      );
    });
  });

  it.each([{ of: "ours", entries, packages }, ...(process.env.TURNKEEP_THOROUGH ? bridges : [])])(
    "hold for the oldest compiler, and in a CommonJS module, which loads every entry: $of",
    async ({ entries, packages }) => {
      const names = entries.map((_, index) => `entry${index}`);
      const consumer = [
        ...entries.map((entry, index) => `import * as ${names[index]} from "${entry}";`),
        `const loaded = [${names.join(", ")}].filter((entry) => Object.keys(entry).length > 0);`,
        "console.log(loaded.length);",
      ].join("\n");
      // Only a test run of vitest may load its entry.
      const vitestEntry = /^import \* as (\w+) from .*conformance\/vitest.*$/m;
      const loading = consumer.replace(vitestEntry, "const $1 = {};");
      const loadable = entries.length - (vitestEntry.test(consumer) ? 1 : 0);
      await inProject(packages, async (project) => {
        const oldest = join(root, "tooling/checks/node_modules/typescript5");
        const known = { target: "ES2022", rewriteRelativeImportExtensions: undefined };
        await project.compile(exportsOf(entries), {}, known, oldest);
        // As NestJS compiles by default: TypeScript 5 does not read `exports` then.
        const commonjs = { ...known, module: "CommonJS" };
        await project.compile(exportsOf(entries), {}, commonjs, oldest);
        const program = await project.compile('import "./consumer.cts";', { "consumer.cts": loading });
        expect(await project.run(program, process.env)).toBe(`${loadable}\n`);
      });
    },
    // LangChain has many declarations to read, twice.
    600_000,
  );
});

function exportsOf(names: readonly string[]): string {
  return names.map((name, index) => `export * as entry${index} from "${name}";`).join("\n");
}
