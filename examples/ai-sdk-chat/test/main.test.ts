import { readFileSync } from "node:fs";
import { openaiServer, runProgram, weatherBot } from "@turnkeep/model-servers";
import { expect, test, vi } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const args = JSON.parse(read("questions.json")) as string[];
const load = (): Promise<unknown> => import("../src/main.ts");

test("answers by the AI SDK's mock model", async () => {
  vi.resetModules();
  expect(await runProgram({ load, args, env: {} })).toBe(read("output.txt"));
});

// The server speaks the protocol, streams, and checks what it is sent; that a model answers well it cannot show.
test("answers by an OpenAI-compatible server, where one is configured", async () => {
  vi.resetModules();
  const server = await openaiServer(weatherBot, "key");
  try {
    const printed = await runProgram({
      load,
      args,
      env: { MODEL_API_KEY: "key", MODEL_BASE_URL: `${server.url}/v1` },
    });
    expect(printed).toBe(read("output.txt").split("\n").slice(1).join("\n"));
    expect(server.received).toHaveLength(4);
    expect(server.received.every(({ body }) => body.stream === true)).toBe(true);
  } finally {
    await server.stop();
  }
});
