import { it } from "vitest";
import { inProject } from "./in-project.ts";

/** What a page in a browser may import: every entry, so that all declarations are read. */
const entries = [
  "@turnkeep/core",
  "@turnkeep/core/processors",
  "@turnkeep/core/store-kit",
  "@turnkeep/assistant",
  "@turnkeep/formats/ai-sdk",
  "@turnkeep/formats/anthropic",
  "@turnkeep/formats/convert",
  "@turnkeep/formats/langchain4j",
  "@turnkeep/formats/openai",
  "@turnkeep/formats/openai-responses",
  "@turnkeep/formats/profiles",
  "@turnkeep/tokens",
];
const packages = ["@turnkeep/core", "@turnkeep/assistant", "@turnkeep/formats", "@turnkeep/tokens"];

it("types hold in a project for browsers, without Node's types and the newest library of TypeScript", async () => {
  const code = entries.map((entry, index) => `export * as entry${index} from "${entry}";`).join("\n");
  await inProject(packages, async (project) => {
    await project.compile(code, {}, { types: [], target: "ES2022", lib: ["ES2022", "DOM"] });
  });
});
