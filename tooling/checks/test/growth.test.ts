import { afterAll, describe, expect, test } from "vitest";
import { measuredFunctions, type Prepare } from "../src/growth/functions.ts";
import { shapes } from "../src/growth/shapes.ts";
import { WorkMeter } from "../src/growth/work.ts";

/**
 * Nothing that a chat's user says makes work that grows faster than what was said: each function over conversations of some
 * size and of twice that. Work is counted: times would depend on the machine.
 */

/** More calls and images than any provider takes, so that both sizes are refused, or none. */
const size = 140;
const most = 2.2;

/** Each function with one of 46 shapes, each shape with as many of the functions; all in `npm run thorough`. */
const parts = process.env.TURNKEEP_THOROUGH ? 1 : 46;

/**
 * What does grow. While an answer of many messages is open, a window measures at each of them what repair would add to all of
 * it. A later system message takes the place of the prompt, for which the list of messages moves up.
 */
const openAnswers = [
  "approvals of calls one by one that share an id",
  "approvals of many calls",
  "approvals of one id",
  "calls one by one that share an id, then their results",
  "calls one by one, every other answered",
  "calls one by one, every other answered in one message",
  "calls that share an id, between others that nothing answers",
  "many calls one by one, that nothing answers",
  "many calls one by one, then their results",
  "requests for approval apart from calls one by one",
  "requests for approval of calls one by one, that nobody answers",
  "requests for approval one by one",
  "results of one id before their calls",
];
const laterPrompts = ["many system messages between turns"];
const growing: Readonly<Record<string, readonly string[]>> = {
  "add one by one, within a window": openAnswers,
  // The results are sorted: 2.20 to 2.23 at this size, and ever nearer to 2 beyond.
  ...Object.fromEntries(
    ["messages of Anthropic", "messages of Bedrock", "messages of Gemini"].map((name) => [
      name,
      ["many results for one call", "many results for one call in one message"],
    ]),
  ),
  ...Object.fromEntries(
    ["add", "add one by one", "set", "add LangChain4j", "add Gemini", "add Bedrock", "add Ollama"].map(
      (name) => [name, laterPrompts],
    ),
  ),
};

const meter = new WorkMeter();
await meter.start();
afterAll(() => meter.stop());
const functions = await measuredFunctions();
const { planted } = await import("../src/growth/planted.ts");

/** How much more work twice the size makes. */
async function growthOf(make: (n: number) => ReturnType<Prepare>): Promise<number> {
  const runs = [await make(size), await make(2 * size)];
  const [once, twice] = (await meter.workOf(runs.map((run) => () => unlessRefused(run)))) as [number, number];
  return twice / once;
}

/** A provider takes so many calls, a window so many tokens: to say so is work that counts too. */
async function unlessRefused(run: () => unknown): Promise<void> {
  try {
    await run();
  } catch (error) {
    if ((error as { code?: unknown }).code !== "WINDOW_OVERFLOW") throw error;
  }
}

test.each(Object.entries(planted))("the meter sees %s", async (_, grows) => {
  expect(await growthOf((n) => () => grows(n))).toBeGreaterThan(3);
});

describe("twice the conversation is at most some twice the work:", () => {
  test.each(Object.entries(functions).map(([name, prepare], place) => [name, prepare, place] as const))(
    "%s",
    async (name, prepare, place) => {
      const known = growing[name] ?? [];
      const measured = Object.entries(shapes).filter(
        ([shape], index) => (index + place) % parts === 0 && (parts === 1 || !known.includes(shape)),
      );
      const growths: Record<string, number> = {};
      for (const [shape, make] of measured) growths[shape] = await growthOf((n) => prepare(make(n)));
      const grown = Object.entries(growths).filter(([, growth]) => growth > most);
      expect(measured.length).toBeGreaterThan(0);
      expect(Object.fromEntries(grown.filter(([shape]) => !known.includes(shape)))).toEqual({});
      // What grows no longer is named no longer.
      expect(known.filter((shape) => (growths[shape] ?? 4) <= most)).toEqual([]);
    },
  );
});
