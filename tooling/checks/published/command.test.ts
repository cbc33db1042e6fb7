import { startRedis } from "@turnkeep/servers";
import { describe, expect, it } from "vitest";
import { inProject } from "./in-project.ts";

const timeout = 120_000;

/** With what it depends on, which is in no registry here. */
const installed = [
  "turnkeep",
  ...["core", "formats", "store-postgres", "store-sqlite", "tokens"].map((name) => `@turnkeep/${name}`),
];

describe("the command turnkeep", () => {
  it("names the packages that a database needs, where they are not installed", { timeout }, async () => {
    await inProject(installed, async (project) => {
      const inspected = project.command("npx", [
        "--no",
        "turnkeep",
        "inspect",
        "--store",
        "redis://127.0.0.1",
      ]);
      await expect(inspected).rejects.toThrow("npm install @turnkeep/store-redis ioredis");
    });
  });

  it("works over a database whose packages are installed beside it", { timeout }, async () => {
    const server = await startRedis();
    try {
      await inProject([...installed, "@turnkeep/store-redis", "ioredis"], async (project) => {
        const turnkeep = (...args: string[]): Promise<string> =>
          project.command("npx", ["--no", "turnkeep", ...args, "--store", server.url]);
        expect(await turnkeep("replay", "-q", "--run", "r")).toMatch(/Nothing was lost\.\n$/);
        expect(await turnkeep("inspect", "--owner", "replay/r")).toContain("\n6 memories of replay/r in ");
      });
    } finally {
      await server.stop();
    }
  });
});
