import { readFileSync } from "node:fs";
import { anthropicServer, runProgram, weatherBot } from "@turnkeep/model-servers";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const args = JSON.parse(read("questions.json")) as string[];
const load = (): Promise<unknown> => import("../src/main.ts");

// The server speaks the protocol, streams, and checks what it is sent; that a model answers well it cannot show.
test("prints questions, calls and answers as they come", async () => {
  const server = await anthropicServer(weatherBot, "key");
  try {
    const printed = await runProgram({
      load,
      args,
      env: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: server.url },
    });
    expect(printed).toBe(read("output.txt"));
    expect(server.received).toHaveLength(3);
    expect(server.received.every(({ body }) => body.stream === true)).toBe(true);
  } finally {
    await server.stop();
  }
});
