import { expect, it } from "vitest";
import { typeErrorsOf } from "../src/documents/type-errors.mjs";
import { root, workspacePackages } from "../src/runner/workspace.mjs";

/** What a user writes by mistake, after the imports, and a part of what TypeScript must say of it. */
const mistakes: readonly (readonly [mistake: string, said: string])[] = [
  ["createChatMemory({ store });", "Property 'id' is missing"],
  ["createChatMemory({ window: { maxMesages: 4 } });", "Did you mean to write 'maxMessages'?"],
  ["createAssistant({ model, memory, sytemMessage: 'Hi' });", "Did you mean to write 'systemMessage'?"],
  ["createAssistant({ model: 'gpt-5', memory });", "Type 'string' is not assignable to type 'Model<"],
  ["createAssistant({ memory });", "Property 'model' is missing"],
  [
    "createAssistant({ model, tools: { clock: { parameters: {}, execute: () => 1 } } });",
    "'parameters' does not exist in type 'Tool<unknown>'",
  ],
  [
    "createAssistant({ model: openaiCompatibleChat(server), memory: chat });",
    "Property 'messages' is missing",
  ],
];

const imports = `
import { createAssistant } from "@turnkeep/assistant";
import { openaiCompatible, openaiCompatibleChat } from "@turnkeep/assistant/openai-compatible";
import { createChatMemory, inMemoryStore } from "@turnkeep/core";
import { openaiFormat } from "@turnkeep/formats/openai";

const store = inMemoryStore();
const memory = createChatMemory();
const chat = createChatMemory({ format: openaiFormat });
const server = { baseUrl: "http://localhost", model: "m" };
const model = openaiCompatible(server);
`;

it("TypeScript names the mistake in a call", () => {
  const blocks = mistakes.map(([code], line) => ({ file: "mistakes.ts", line, code: `${imports}${code}` }));
  const workspace = { top: root, packages: workspacePackages(), fallback: "packages/cli" };
  const said = [...typeErrorsOf(blocks, workspace).values()].map((errors) => errors.join("\n"));
  for (const [index, [mistake, part]] of mistakes.entries()) {
    // An error in the imports would be another's.
    expect.soft(said[index], mistake).toContain(part);
    expect.soft(said[index], mistake).not.toContain("Cannot find");
  }
});
