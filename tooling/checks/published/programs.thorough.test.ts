import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { anthropicServer, openaiServer, weatherBot } from "@turnkeep/model-servers";
import { createDatabase, startDynamo, startMongo, startRedis } from "@turnkeep/servers";
import { describe, expect, inject, it } from "vitest";
import { root, workspacePackages } from "../src/runner/workspace.mjs";
import { inProject } from "./in-project.ts";

/** What a program runs against. */
interface World {
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<unknown>;
}

const at = async (
  variable: string,
  server: Promise<{ readonly url: string; stop(): Promise<void> }>,
  more: NodeJS.ProcessEnv = {},
): Promise<World> => {
  const { url, stop } = await server;
  return { env: { [variable]: url, ...more }, stop };
};

/** Nothing but the folder of the project, which is removed. */
const inItsFolder = async (env: NodeJS.ProcessEnv = {}): Promise<World> => ({
  env,
  stop: async () => undefined,
});

/** By the example's folder. */
const worlds: Readonly<Record<string, () => Promise<World>>> = {
  "ai-sdk-chat": inItsFolder,
  anthropic: () => at("ANTHROPIC_BASE_URL", anthropicServer(weatherBot, "key"), { ANTHROPIC_API_KEY: "key" }),
  "assistant-ui": inItsFolder,
  "chat-route": inItsFolder,
  dynamo: () => at("DYNAMO_URL", startDynamo()),
  "google-adk": inItsFolder,
  langchain: inItsFolder,
  mongo: () => at("MONGO_URL", startMongo()),
  "openai-agents": inItsFolder,
  openai: async () => {
    const { env, stop } = await at("url", openaiServer(weatherBot, "key"));
    return { env: { OPENAI_BASE_URL: `${env.url}/v1`, OPENAI_API_KEY: "key" }, stop };
  },
  postgres: async () => {
    const { url, drop } = await createDatabase(inject("postgresUrl"));
    return { env: { DATABASE_URL: url }, stop: drop };
  },
  redis: () => at("REDIS_URL", startRedis()),
  sqlite: () => inItsFolder({ CHAT_FILE: "chat.db" }),
  // No account of whoever runs this is used.
  summarize: () => inItsFolder({ MODEL: "" }),
  "tanstack-ai": inItsFolder,
};

const programs = workspacePackages()
  .map(({ folder }) => folder)
  .filter((folder) => folder.startsWith("examples/") && existsSync(join(root, folder, "src/main.ts")));

it("every program has what it runs against here, and the other way round", () => {
  expect(programs.map((folder) => basename(folder)).sort()).toEqual(Object.keys(worlds).sort());
});

describe.each(programs)("%s", (folder) => {
  it("prints what it should, installed from tarballs", async () => {
    const read = (path: string): string => readFileSync(join(root, folder, path), "utf8");
    const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
    // Whoever copies it reads there what it needs.
    expect(read("src/main.ts").split("\n")[0]).toBe(`// npm install ${Object.keys(dependencies).join(" ")}`);
    const beside = readdirSync(join(root, folder, "src")).filter((name) => name !== "main.ts");
    const args = existsSync(join(root, folder, "questions.json"))
      ? (JSON.parse(read("questions.json")) as string[])
      : [];
    await inProject(Object.keys(dependencies), async (project) => {
      const { env, stop } = await (worlds[basename(folder)] as () => Promise<World>)();
      try {
        const files = Object.fromEntries(beside.map((name) => [name, read(`src/${name}`)]));
        const program = await project.compile(read("src/main.ts"), files);
        // A driver may warn of the Node that it will no longer support.
        const printed = await project.run(program, { ...env, NODE_NO_WARNINGS: "1" }, args);
        expect(printed).toBe(read("output.txt"));
      } finally {
        await stop();
      }
    });
  });
});
