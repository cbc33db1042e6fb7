import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { startDynamo, startMongo, startPostgres, startRedis } from "@turnkeep/servers";
import { describe, expect, it } from "vitest";
import { root, workspacePackages } from "../src/runner/workspace.mjs";
import { inProject } from "./in-project.ts";

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/** What an example's program runs against, by its folder, and the variable that brings it the address; no database: none. */
const databases: Readonly<
  Record<string, { readonly variable: string; start(): Promise<Server> } | undefined>
> = {
  summarize: undefined,
  dynamo: { variable: "DYNAMO_URL", start: () => startDynamo() },
  mongo: { variable: "MONGO_URL", start: () => startMongo() },
  postgres: { variable: "DATABASE_URL", start: () => startPostgres() },
  redis: { variable: "REDIS_URL", start: () => startRedis() },
};

const programs = workspacePackages()
  .map(({ folder }) => folder)
  .filter((folder) => folder.startsWith("examples/") && existsSync(join(root, folder, "src/main.ts")));

it("every program stands here with what it runs against, and the other way round", () => {
  expect(programs.map((folder) => basename(folder)).sort()).toEqual(Object.keys(databases).sort());
});

describe.each(programs)("%s", (folder) => {
  it("prints what it should, installed from tarballs", async () => {
    const read = (path: string): string => readFileSync(join(root, folder, path), "utf8");
    const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
    const database = databases[basename(folder)];
    await inProject(Object.keys(dependencies), async (project) => {
      const server = await database?.start();
      try {
        const printed = await project.run(await project.compile(read("src/main.ts")), {
          ...(database === undefined ? {} : { [database.variable]: server?.url }),
          // No account of whoever runs this is used, and a driver may warn of the Node that it will no longer support.
          MODEL: "",
          NODE_NO_WARNINGS: "1",
        });
        expect(printed).toBe(read("output.txt"));
      } finally {
        await server?.stop();
      }
    });
  });
});
